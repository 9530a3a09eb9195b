/** Counts what is under way in a simulation, and tells when nothing is. */
export class Activities {
  #count = 0;
  #waiting: (() => void)[] = [];

  /** Something is under way until the function that is answered is called. */
  begin(): () => void {
    this.#count++;
    let isUnderWay = true;
    return () => {
      if (!isUnderWay) return;
      isUnderWay = false;
      this.#count--;
      if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    };
  }

  get isIdle(): boolean {
    return this.#count === 0;
  }

  async untilIdle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
