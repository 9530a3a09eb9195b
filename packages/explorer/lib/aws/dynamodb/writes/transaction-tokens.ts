/**
 * The client request tokens of finished transactions: for 10 minutes a repetition does nothing.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#DDB-TransactWriteItems-request-ClientRequestToken
 */
import { DynamoDBError, invalid } from "../dynamodb-error.ts";

const MEMORY_MS = 10 * 60_000;
const MAX_LENGTH = 36;

interface Done {
  readonly request: string;
  readonly at: number;
}

export class TransactionTokens {
  readonly #done = new Map<string, Done>();

  /**
   * Whether the same request was executed with this token.
   * @throws DynamoDBError `IdempotentParameterMismatchException` when another request was
   */
  wasDone(token: string | undefined, request: unknown, now: number): boolean {
    if (!token) return false;
    if (token.length > MAX_LENGTH) {
      throw invalid(
        "1 validation error detected: Value at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36",
      );
    }
    this.#forget(now);
    const done = this.#done.get(token);
    if (done === undefined) return false;
    if (done.request === textOf(request)) return true;
    throw new DynamoDBError(
      "IdempotentParameterMismatchException",
      "the token was used for a request with other parameters",
    );
  }

  note(token: string | undefined, request: unknown, now: number): void {
    if (token) this.#done.set(token, { request: textOf(request), at: now });
  }

  #forget(now: number): void {
    for (const [token, { at }] of this.#done) {
      if (now - at < MEMORY_MS) return;
      this.#done.delete(token);
    }
  }
}

/** The same string for the same request, in any order of its attributes. */
function textOf(request: unknown): string {
  return JSON.stringify(request, (_key, value: unknown) => {
    if (value instanceof Uint8Array) return [...value];
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([first], [second]) => (first < second ? -1 : 1)));
  });
}
