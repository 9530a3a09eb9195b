/** The base of all errors of this package, and how their classes are made. */

const BRAND = Symbol.for("onceonly.error");

/** A longer message contains text from outside, such as a payload's field name. */
const MAX_MESSAGE_LENGTH = 1000;

/** Keeps the beginning and the end, which say what the error is about and what to do. */
export function bounded(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  const [head, tail] = [message.slice(0, 700), message.slice(3 - MAX_MESSAGE_LENGTH + 700)];
  return `${head.toWellFormed()} … ${tail.toWellFormed()}`;
}

/** Base of all errors of this package. `retryable` says whether the same call may succeed later. */
export abstract class OnceonlyError extends Error {
  abstract readonly code: string;
  abstract readonly retryable: boolean;
  abstract override readonly name: string;
  readonly [BRAND] = true;
  /** For logs: the hash of the idempotency key; absent if no key is known. */
  declare keyHash?: string;

  constructor(message = "", options?: ErrorOptions) {
    super(bounded(message), options);
  }
}

/** The base class of each error in this package. */
type ErrorClass<Name extends string, Code extends string> = Pick<
  typeof OnceonlyError,
  keyof typeof OnceonlyError
> &
  (new (
    message?: string,
    options?: ErrorOptions,
  ) => OnceonlyError & { readonly name: Name; readonly code: Code; readonly retryable: boolean });

/**
 * The values that differ by class, as literals: minifiers rename classes, and users branch on `code`. Mark the call with
 * `@__PURE__`, so that bundlers drop the classes that a program doesn't use.
 */
export function errorClass<Name extends string, Code extends string>(
  name: Name,
  code: Code,
  retryable: boolean,
): ErrorClass<Name, Code> {
  return class extends OnceonlyError {
    override readonly name = name as Name;
    readonly code = code;
    readonly retryable = retryable;
  };
}

/** True for errors of this package, also across copies of it (a Lambda layer and a bundle). */
export function isOnceonlyError(error: unknown): error is OnceonlyError {
  return typeof error === "object" && error !== null && BRAND in error;
}
