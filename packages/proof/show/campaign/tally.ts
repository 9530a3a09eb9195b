// Counts events and answers by name.

export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string, count = 1): void {
    this.#counts.set(name, this.of(name) + count);
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** In the order of their names. */
  toJSON(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}
