/** Whether a destination is asked: one that hangs or refuses request after request is left alone for a while. */

/** So many requests in a row that failed as a whole. */
const MAX_FAILURES = 2;

const REST_MS = 30_000;

export class Circuit {
  #failures = 0;
  #restsUntil = 0;

  /** While it is open nothing is sent; then one request finds out. */
  isOpen(now: number): boolean {
    return now < this.#restsUntil;
  }

  fail(now: number): void {
    this.#failures += 1;
    if (this.#failures >= MAX_FAILURES) this.#restsUntil = now + REST_MS;
  }

  succeed(): void {
    this.#failures = 0;
  }
}
