/** What keeps the client from sending anything: it says what to do. No secret is in it. */
export class LeanClientError extends Error {
  /** @param name is what the store tells reasons apart by, as it does with the SDK's errors */
  constructor(name: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = name;
  }
}
