/** Bounds the commits that a relay sends at the same time. */
import { COMMITS_AT_ONCE } from "./sender.ts";

/** Once its messages have left, a commit needs little memory while its progress is still being written. */
const MAX_WORKING = 40;

export class CommitWindow {
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

  /** `work` calls `leave` to make room for others, and may go on after that. */
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

  /** Resolves when all work has ended. */
  async empty(): Promise<void> {
    await Promise.all(this.#working);
  }
}
