// Decides what happens to each request that a function sends to DynamoDB. The plan's seed, the record and the number of
// its requests decide, so scheduling can't change it. Also reports when a given record is claimed, committed or marked
// as sent, and each order before it is stored.
import type { ObservedRequest, ProxyFault } from "../../../local/lib/fault-proxy.ts";
import type { Plan } from "./plan.ts";
import { fractionOf } from "./random.ts";
import { type Moment, type NewOrder, ordersIn, type ReadRequest, readRecords } from "./request-reading.ts";

/** What should happen; `undefined` leaves it to the seed. */
export type Act = () => ProxyFault | undefined;

export interface Faults {
  readonly decide: (request: ObservedRequest) => ProxyFault;
  /**
   * Calls `act` at every such moment of this record, when the request has arrived but has not been processed.
   * @returns a function that ends it
   */
  on(recordKey: string, moment: Moment, act: Act): () => void;
  /** Calls `listener` for every order in a transaction that has arrived but has not been processed. */
  onOrder(listener: (order: NewOrder) => void): void;
  /** Throttles by the plan; requests that were refused to a function that had just been killed are not among them. */
  readonly throttles: number;
}

/** @param read @default that of functions with onceonly */
export function createFaults(
  { seed, faultShares }: Pick<Plan, "seed" | "faultShares">,
  read: ReadRequest = readRecords,
): Faults {
  const seen = new Map<string, number>();
  const watched = new Map<string, Set<Act>>();
  const listeners: ((order: NewOrder) => void)[] = [];
  let throttles = 0;

  function decide(request: ObservedRequest): ProxyFault {
    const { operation, body } = request;
    const moments = read(request);
    const [first] = moments;
    if (first === undefined) return "pass";

    for (const order of ordersIn(body)) for (const listener of listeners) listener(order);
    const acts = moments.flatMap((each) => [...(watched.get(nameOf(each.recordKey, each.moment)) ?? [])]);
    const [disturbed] = acts.map((act) => act()).filter((fault) => fault !== undefined);
    if (disturbed !== undefined) return disturbed;

    const name = `${operation} ${first.recordKey}`;
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    const chance = fractionOf(String(seed), name, String(times));
    if (chance < faultShares.lostAnswers) return "lose-answer";
    if (chance >= faultShares.lostAnswers + faultShares.throttles) return "pass";
    throttles++;
    return "throttle";
  }

  return {
    decide,
    on(recordKey, moment, act) {
      const name = nameOf(recordKey, moment);
      const acts = watched.get(name) ?? new Set();
      watched.set(name, acts.add(act));
      return () => {
        acts.delete(act);
        if (acts.size === 0) watched.delete(name);
      };
    },
    onOrder: (listener) => void listeners.push(listener),
    get throttles() {
      return throttles;
    },
  };
}

function nameOf(recordKey: string, moment: Moment): string {
  return `${moment} ${recordKey}`;
}
