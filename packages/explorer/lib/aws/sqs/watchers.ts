/** Callbacks that wait for news of a queue. */
export class Watchers {
  readonly #watchers = new Set<() => void>();

  /** Calls `tell` on every change, until the returned function is called. */
  add(tell: () => void): () => void {
    this.#watchers.add(tell);
    return () => this.#watchers.delete(tell);
  }

  tell(): void {
    for (const tell of this.#watchers) tell();
  }
}
