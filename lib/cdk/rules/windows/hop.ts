// The types that describe the redelivery windows of event sources.
import { objectIn, type TemplateProperties, valueIn } from "../app.ts";

/** A part of the time after which an event can be redelivered. */
export interface Term {
  readonly seconds: number;
  /** Number and reason: "86400 s in Shop/Queue". */
  readonly text: string;
  /** The id of a warning: the number is an AWS maximum that the template doesn't set. */
  readonly limit?: string;
}

/** How long a source can redeliver the same event. */
export type RedeliveryWindow = readonly Term[] | { readonly unknown: string };

/** A path on which events reach a resource. */
export interface Hop {
  readonly into: object;
  /** The resource that forwards events. If an event is redelivered to it, it forwards the event again. */
  readonly from?: object | undefined;
  readonly window: RedeliveryWindow;
  /** Whether Lambda queues the invocation and retries it; `false` if the source waits for the response. */
  readonly isAsynchronous?: boolean;
  /** Whether such invocations are only presumed from the function's settings. */
  readonly isPresumed?: boolean;
}

export function isUnknown(window: RedeliveryWindow): window is { readonly unknown: string } {
  return "unknown" in window;
}

/** Adds up windows that follow each other. */
export function sumOf(...windows: readonly RedeliveryWindow[]): RedeliveryWindow {
  return windows.find(isUnknown) ?? windows.flatMap((window) => (isUnknown(window) ? [] : window));
}

export const secondsOf = (terms: readonly Term[]) => terms.reduce((sum, { seconds }) => sum + seconds, 0);

/** An unknown window if there is one, else the longest. */
export function longestOf(windows: readonly RedeliveryWindow[]): RedeliveryWindow {
  return (
    windows.find(isUnknown) ??
    windows.reduce<RedeliveryWindow>((one, other) => {
      if (isUnknown(one) || isUnknown(other)) return one;
      return secondsOf(other) > secondsOf(one) ? other : one;
    }, [])
  );
}

/** A number in a template; `undefined` if it isn't set, `NaN` if it's only known at deployment. */
export function numberIn(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  return typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
}

interface Age {
  readonly value: unknown;
  /** The AWS default if the template doesn't set it. */
  readonly most: number;
  readonly limit: string;
  readonly path: string;
  readonly what: string;
}

/** A maximum age that a template may set. */
export function ageTerm({ value, most, limit, path, what }: Age): RedeliveryWindow {
  const seconds = numberIn(value);
  if (Number.isNaN(seconds)) return { unknown: `a number of ${path} is only known at deployment` };
  return seconds === undefined
    ? [{ seconds: most, text: `${most} s ${what}`, limit }]
    : [{ seconds, text: `${seconds} s ${what}` }];
}

/** The retry policy of an EventBridge rule or schedule. */
export function retryWindow(target: TemplateProperties, age: Omit<Age, "value" | "most">): RedeliveryWindow {
  const { MaximumEventAgeInSeconds, MaximumRetryAttempts } = objectIn(valueIn(target, "RetryPolicy"));
  if (numberIn(MaximumRetryAttempts) === 0) return [];
  return ageTerm({ ...age, value: MaximumEventAgeInSeconds, most: 86_400 });
}
