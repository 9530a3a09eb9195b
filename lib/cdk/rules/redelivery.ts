// How long after its first delivery an event may be redelivered to a function.
import type { App, Resource } from "./app.ts";
import { waysTo } from "./windows/hops.ts";
import { OUTBOX } from "./windows/outboxes.ts";

/** A redelivery as a number and the sum that it's computed from, or the part that isn't known at synthesis. */
export type Redelivery = KnownRedelivery | { readonly unknown: string };

export interface KnownRedelivery {
  readonly seconds: number;
  readonly sum: string;
  /** The part of `seconds` that the template sets. */
  readonly setSeconds: number;
  /** The id of the warning about the rest: a service's maximum, or the time in an outbox. */
  readonly limit?: string | undefined;
}

/** For each path to the function, from clients and event sources: how long after its first delivery a call can be repeated. */
export function redeliveriesTo(app: App, fn: Resource, clientSeconds: number): Redelivery[] {
  const client = { seconds: clientSeconds, text: `client window ${clientSeconds} s`, limit: undefined };
  return [[], ...waysTo(app, fn)].map((way): Redelivery => {
    if ("unknown" in way) return way;
    const terms = [...way, client];
    const limits = terms.flatMap(({ limit }) => limit ?? []);
    const total = (of: typeof terms) => of.reduce((sum, { seconds }) => sum + seconds, 0);
    return {
      seconds: total(terms),
      sum: terms.map(({ text }) => text).join(" + "),
      setSeconds: total(terms.filter(({ limit }) => limit === undefined)),
      // An AWS maximum is longer than the outbox's time, and more useful to report.
      limit: limits.find((limit) => limit !== OUTBOX) ?? limits[0],
    };
  });
}
