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
export function synchronous<Answer>(option: string, answer: Answer, expected = "a boolean"): Answer {
  if (isUnawaited(answer)) throw unawaited(option, expected);
  return answer;
}

/** @param cause the error that a predicate was asked about */
export function unawaited(option: string, expected = "a boolean", cause?: unknown): InvalidOptionError {
  const error = new InvalidOptionError(option, `must return ${expected}, not a promise: it isn't awaited`);
  return cause === undefined ? error : Object.assign(error, { cause });
}

/**
 * Whether a predicate says so about an error.
 * @throws InvalidOptionError (`INVALID_OPTION`) for a promise; its cause is the error
 */
export function isTrueOf(
  option: string,
  predicate: ((error: unknown) => unknown) | undefined,
  error: unknown,
) {
  const answer = predicate?.(error);
  if (isUnawaited(answer)) throw unawaited(option, undefined, error);
  return answer === true;
}

/** Calls an observer. It doesn't change an outcome, even if it throws or rejects. */
export function quietly(observe: () => unknown): void {
  try {
    isUnawaited(observe());
  } catch {
    // As documented on each observer.
  }
}
