/** Functions in options that are called synchronously: what to do if one of them returns a promise. */
import { types } from "node:util";
import { InvalidOptionError } from "./errors.ts";

/**
 * Whether a value is a promise, or another object that can be awaited, such as a Prisma query. It's never awaited: a promise that
 * fails must not end the process, and a query must not start.
 */
export function isUnawaited(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (types.isPromise(value)) {
    value.then(undefined, () => {});
    return true;
  }
  return typeof (value as { readonly then?: unknown }).then === "function";
}

/**
 * The answer of an option's function. A promise would count as true, whatever it resolves to.
 * @throws InvalidOptionError (`INVALID_OPTION`) for a promise
 */
export function synchronous<Answer>(option: string, answer: Answer, expected?: string, cause?: unknown) {
  if (isUnawaited(answer)) throw unawaited(option, expected, cause);
  return answer;
}

/** @param cause the error that a predicate was asked about */
export function unawaited(option: string, expected = "a boolean", cause?: unknown): InvalidOptionError {
  const error = new InvalidOptionError(option, `must return ${expected}, not a promise: it isn't awaited`);
  return Object.assign(error, cause ? { cause } : undefined);
}

/** Calls an observer. It doesn't change an outcome, even if it throws or rejects. */
export function quietly(observe: () => unknown): void {
  try {
    isUnawaited(observe());
  } catch {
    // As documented on each observer.
  }
}
