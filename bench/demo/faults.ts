// What happens to each request that a function sends to DynamoDB: decided by the plan's seed, the record and how
// often it was asked for, so that no scheduling changes it. Also tells when a certain record is claimed or committed.
import { hashTuple } from "../../lib/core/identity.ts";
import type { Fault, ObservedRequest } from "../../lib/local/fault-proxy.ts";
import type { Plan } from "./plan.ts";

export type Moment = "claim" | "commit";

export interface Faults {
  readonly decide: (request: ObservedRequest) => Fault;
  /** Calls `act` when this record is next claimed or committed: the request has arrived, and nobody has seen it yet. */
  onNext(recordKey: string, moment: Moment, act: () => Fault): void;
  /** Throttles by the plan; requests that were refused to a function that had just been killed are not among them. */
  readonly throttles: number;
}

const MOMENTS: Readonly<Record<string, Moment>> = { UpdateItem: "claim", TransactWriteItems: "commit" };
const WRITES = ["UpdateItem", "PutItem", "TransactWriteItems"];

export function createFaults({ seed, faultShares }: Pick<Plan, "seed" | "faultShares">): Faults {
  const seen = new Map<string, number>();
  const watched = new Map<string, () => Fault>();
  let throttles = 0;

  function decide({ operation, body }: ObservedRequest): Fault {
    const recordKey = recordKeyOf(body);
    if (recordKey === undefined || !WRITES.includes(operation)) return "pass";

    const moment = `${MOMENTS[operation]} ${recordKey}`;
    const act = watched.get(moment);
    if (act) {
      watched.delete(moment);
      return act();
    }
    const name = `${operation} ${recordKey}`;
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
    onNext: (recordKey, moment, act) => watched.set(`${moment} ${recordKey}`, act),
    get throttles() {
      return throttles;
    },
  };
}

interface WriteBody {
  readonly Key?: { readonly pk?: { readonly S?: string } };
  readonly Item?: { readonly pk?: { readonly S?: string } };
  readonly TransactItems?: readonly { readonly [action: string]: WriteBody }[];
}

/** Orders have another partition key, so what has a `pk` is a record. */
function recordKeyOf({ Key, Item, TransactItems = [] }: WriteBody): string | undefined {
  const writes = TransactItems.flatMap((item) => Object.values(item));
  return Key?.pk?.S ?? Item?.pk?.S ?? writes.map(recordKeyOf).find((found) => found !== undefined);
}

function fractionOf(...parts: string[]): number {
  return Buffer.from(hashTuple(...parts), "base64url").readUInt32BE(0) / 2 ** 32;
}
