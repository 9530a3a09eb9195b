// Decides what happens to each request that a function sends to DynamoDB. The plan's seed, the record and the number of
// its requests decide, so that no scheduling changes it. Also tells when a certain record is claimed, committed or marked
// as sent, and of each order before it is stored.
import { ATTRIBUTES } from "../../../lib/contract.ts";
import type { ObservedRequest, ProxyFault } from "../../../lib/local/fault-proxy.ts";
import type { Plan } from "./plan.ts";
import { fractionOf } from "./random.ts";

/** "mark" is the request by which relay and sweeper say that the messages of a commit are sent. */
export type Moment = "claim" | "commit" | "mark";

/** What is to happen; `undefined` leaves it to the seed. */
export type Act = () => ProxyFault | undefined;

export interface NewOrder {
  readonly tenant: string;
  readonly key: string;
  readonly id: string;
}

export interface Faults {
  readonly decide: (request: ObservedRequest) => ProxyFault;
  /**
   * Calls `act` at every such moment of this record, when the request has arrived and nobody has seen it yet.
   * @returns what ends that
   */
  on(recordKey: string, moment: Moment, act: Act): () => void;
  /** Calls `tell` for every order in a transaction that has arrived and that nobody has seen yet. */
  onOrder(tell: (order: NewOrder) => void): void;
  /** Throttles by the plan; requests that were refused to a function that had just been killed are not among them. */
  readonly throttles: number;
}

const WRITES = ["UpdateItem", "PutItem", "TransactWriteItems", "BatchExecuteStatement"];

export function createFaults({ seed, faultShares }: Pick<Plan, "seed" | "faultShares">): Faults {
  const seen = new Map<string, number>();
  const watched = new Map<string, Set<Act>>();
  const listeners: ((order: NewOrder) => void)[] = [];
  let throttles = 0;

  function decide({ operation, body }: ObservedRequest): ProxyFault {
    const claimed = claimedTogether(body);
    const recordKey = claimed[0] ?? recordKeysOf(body)[0];
    if (recordKey === undefined || !WRITES.includes(operation)) return "pass";

    for (const order of ordersIn(body)) for (const tell of listeners) tell(order);
    const moments =
      claimed.length > 0
        ? claimed.map((key) => `claim ${key}`)
        : recordKeysOf(body).map((key) => `${momentOf(operation, body)} ${key}`);
    const acts = moments.flatMap((moment) => [...(watched.get(moment) ?? [])]);
    const [disturbed] = acts.map((act) => act()).filter((fault) => fault !== undefined);
    if (disturbed !== undefined) return disturbed;

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
    on(recordKey, moment, act) {
      const name = `${moment} ${recordKey}`;
      const acts = watched.get(name) ?? new Set();
      watched.set(name, acts.add(act));
      return () => {
        acts.delete(act);
        if (acts.size === 0) watched.delete(name);
      };
    },
    onOrder: (tell) => void listeners.push(tell),
    get throttles() {
      return throttles;
    },
  };
}

interface WriteBody {
  readonly Key?: { readonly pk?: { readonly S?: string } };
  readonly Item?: { readonly [name: string]: { readonly S?: string } };
  readonly UpdateExpression?: string;
  readonly TransactItems?: readonly { readonly [action: string]: WriteBody }[];
  readonly Statements?: readonly {
    readonly Statement: string;
    readonly Parameters: readonly { readonly S?: string }[];
  }[];
}

/** The records that one request inserts, each by a statement of its own. */
function claimedTogether({ Statements = [] }: WriteBody): string[] {
  return Statements.filter(({ Statement }) => Statement.startsWith("INSERT")).flatMap(
    ({ Statement, Parameters }) => {
      const names = Array.from(Statement.matchAll(/'(\w+)': \?/g), ([, name]) => name);
      return Parameters[names.indexOf(ATTRIBUTES.partitionKey)]?.S ?? [];
    },
  );
}

function momentOf(operation: string, { UpdateExpression = "" }: WriteBody): Moment {
  if (operation === "TransactWriteItems") return "commit";
  const isMark = new RegExp(`REMOVE .*\\b${ATTRIBUTES.unsentSince}\\b`).test(UpdateExpression);
  return isMark ? "mark" : "claim";
}

function writesOf({ TransactItems = [] }: WriteBody): WriteBody[] {
  return TransactItems.flatMap((item) => Object.values(item));
}

/** Orders have another partition key, so what has a `pk` is a record. Commits may join. */
function recordKeysOf(body: WriteBody): string[] {
  return [body, ...writesOf(body)].flatMap(({ Key, Item }) => Key?.pk?.S ?? Item?.pk?.S ?? []);
}

function ordersIn(body: WriteBody): NewOrder[] {
  return writesOf(body).flatMap(({ Item }) => {
    const [tenant, key, id] = [Item?.tenant?.S, Item?.idempotencyKey?.S, Item?.id?.S];
    return tenant !== undefined && key !== undefined && id !== undefined ? [{ tenant, key, id }] : [];
  });
}
