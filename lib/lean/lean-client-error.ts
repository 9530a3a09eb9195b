/** A problem that keeps the client from sending anything. The message says what to do, and contains no secret. */
export class LeanClientError extends Error {
  /** @param name lets the store classify the failure, as the names of the SDK's errors do */
  constructor(name: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = name;
  }
}
