/** Lets one call at a time read previous versions. */
export class StaleReads {
  #isOn = false;

  isStale = (): boolean => this.#isOn;

  /** The model reads synchronously, before `read` returns its promise. */
  during<T>(read: () => Promise<T>): Promise<T> {
    this.#isOn = true;
    try {
      return read();
    } finally {
      this.#isOn = false;
    }
  }
}
