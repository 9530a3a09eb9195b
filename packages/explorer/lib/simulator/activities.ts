/** Counts the activities of a simulation, and reports when none is left. */
export class Activities {
  #count = 0;
  #waiting: (() => void)[] = [];

  /** Begins an activity, which lasts until the returned function is called. */
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
