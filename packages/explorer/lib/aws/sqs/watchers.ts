/** Callbacks that wait for news of a queue. */
export class Watchers {
  readonly #watchers = new Set<() => void>();

  /** Calls `listener` on every change, until the returned function is called. */
  add(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  notify(): void {
    for (const listener of this.#watchers) listener();
  }
}
