/** Counts the requests to a real store, so its clock stands still while one is under way. */
import type { FakeClock } from "../../../lib/testing/fake-clock.ts";

export class RequestsUnderWay {
  #count = 0;
  #waiting: (() => void)[] = [];

  async during<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    this.#count++;
    this.#notify();
    try {
      return await request();
    } finally {
      this.#count--;
      this.#notify();
    }
  }

  /** As the clock's own `run`, for work that makes requests. */
  async run<Result>(clock: FakeClock, work: Promise<Result>): Promise<Result> {
    let isSettled = false;
    const noteSettled = () => {
      isSettled = true;
      this.#notify();
    };
    work.then(noteSettled, noteSettled);
    while (!isSettled) {
      if (this.#count > 0) await this.#change();
      else await clock.run(this.#change());
    }
    return work;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
