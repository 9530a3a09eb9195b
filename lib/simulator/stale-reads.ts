/** Lets one call at a time read what was there before. */
export class StaleReads {
  #isOn = false;

  isStale = (): boolean => this.#isOn;

  /** The model reads at once, before `read` answers its promise. */
  during<T>(read: () => Promise<T>): Promise<T> {
    this.#isOn = true;
    try {
      return read();
    } finally {
      this.#isOn = false;
    }
  }
}
