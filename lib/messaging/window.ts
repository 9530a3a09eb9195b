/** How many commits are sent at once: one can have 4 MB of messages, and a function has little memory and time. */
export const COMMITS_AT_ONCE = 10;

/** What was sent is small while it is kept. */
const MAX_WORKING = 40;

export class Window {
  readonly #working = new Set<Promise<unknown>>();
  #entered = 0;
  #leave: () => void = () => {};
  #hasLeft = Promise.resolve();

  get isFull(): boolean {
    return this.#entered >= COMMITS_AT_ONCE || this.#working.size >= MAX_WORKING;
  }

  /** Resolves once there is room again. */
  async room(): Promise<void> {
    while (this.#entered >= COMMITS_AT_ONCE) await this.#hasLeft;
    while (this.#working.size >= MAX_WORKING) await Promise.race(this.#working);
  }

  /** `work` makes room for others when it calls what it is given; it may have an end to come to after that. */
  enter(work: (leave: () => void) => Promise<unknown>): void {
    this.#entered += 1;
    if (this.isFull) {
      this.#hasLeft = new Promise((resolve) => {
        this.#leave = resolve;
      });
    }
    const working = work(() => {
      this.#entered -= 1;
      this.#leave();
    }).finally(() => this.#working.delete(working));
    this.#working.add(working);
  }

  /** Resolves when all work has come to its end. */
  async empty(): Promise<void> {
    await Promise.all(this.#working);
  }
}
