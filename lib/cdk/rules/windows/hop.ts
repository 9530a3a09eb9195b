// The words in which the redelivery windows of event sources are told.
import { objectIn, type TemplateProperties, valueIn } from "../app.ts";

/** A part of the time after which something can come again. */
export interface Term {
  readonly seconds: number;
  /** Number and reason: "86400 s in Shop/Queue". */
  readonly text: string;
  /** The id of a warning: the number is a maximum of AWS, and the template does not set it. */
  readonly limit?: string;
}

/** For how long a source brings the same thing again. */
export type RedeliveryWindow = readonly Term[] | { readonly unknown: string };

/** A way on which things come to a resource. */
export interface Hop {
  readonly into: object;
  /** The resource that passes events on. An event that reaches it again is passed on again. */
  readonly from?: object | undefined;
  readonly window: RedeliveryWindow;
  /** Whether Lambda puts the invocation into the queue of its function, and repeats it; `false` if the source waits for the answer. */
  readonly isAsynchronous?: boolean;
  /** Whether only the function's settings say that there are such invocations. */
  readonly isPresumed?: boolean;
}

export function isUnknown(window: RedeliveryWindow): window is { readonly unknown: string } {
  return "unknown" in window;
}

/** One window after the other. */
export function sumOf(...windows: readonly RedeliveryWindow[]): RedeliveryWindow {
  return windows.find(isUnknown) ?? windows.flatMap((window) => (isUnknown(window) ? [] : window));
}

export const secondsOf = (terms: readonly Term[]) => terms.reduce((sum, { seconds }) => sum + seconds, 0);

/** The window that is unknown, else the longest. */
export function longestOf(windows: readonly RedeliveryWindow[]): RedeliveryWindow {
  return (
    windows.find(isUnknown) ??
    windows.reduce<RedeliveryWindow>((one, other) => {
      if (isUnknown(one) || isUnknown(other)) return one;
      return secondsOf(other) > secondsOf(one) ? other : one;
    }, [])
  );
}

/** A number of a template; `undefined` where nothing is set, `NaN` where it is known at deployment only. */
export function numberIn(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  return typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
}

interface Age {
  readonly value: unknown;
  /** What AWS does where the template says nothing. */
  readonly most: number;
  readonly limit: string;
  readonly path: string;
  readonly what: string;
}

/** A maximum age that a template may set. */
export function ageTerm({ value, most, limit, path, what }: Age): RedeliveryWindow {
  const seconds = numberIn(value);
  if (Number.isNaN(seconds)) return { unknown: `a number of ${path} is known at deployment only` };
  return seconds === undefined
    ? [{ seconds: most, text: `${most} s ${what}`, limit }]
    : [{ seconds, text: `${seconds} s ${what}` }];
}

/** The retry policies of EventBridge's rules and schedules. */
export function retryWindow(target: TemplateProperties, age: Omit<Age, "value" | "most">): RedeliveryWindow {
  const { MaximumEventAgeInSeconds, MaximumRetryAttempts } = objectIn(valueIn(target, "RetryPolicy"));
  if (numberIn(MaximumRetryAttempts) === 0) return [];
  return ageTerm({ ...age, value: MaximumEventAgeInSeconds, most: 86_400 });
}
