// For how long after its first delivery something may come to a function again.
import type { App, Resource } from "./app.ts";
import { waysTo } from "./windows/hops.ts";
import { OUTBOX } from "./windows/outboxes.ts";

/** A redelivery, as a number and as its sum; or the part that is not known at synthesis. */
export type Redelivery = KnownRedelivery | { readonly unknown: string };

export interface KnownRedelivery {
  readonly seconds: number;
  readonly sum: string;
  /** What the template sets of the seconds. */
  readonly setSeconds: number;
  /** The id of the warning about the rest: the maximum of a service, or the time of an outbox. */
  readonly limit?: string | undefined;
}

/** For each way to the function, from clients and from event sources: after how long a call can come again. */
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
      // What AWS may add is longer than the outbox's time, and says more.
      limit: limits.find((limit) => limit !== OUTBOX) ?? limits[0],
    };
  });
}
