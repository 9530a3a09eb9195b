// What the clients will do, and what will be done to them: computed before anything runs, from the options alone.
import { createHash } from "node:crypto";
import type { DemoOptions } from "./options.ts";
import { type SeededRandom, seededRandom } from "./random.ts";

export const TENANTS = ["acme", "globex"] as const;
export type Tenant = (typeof TENANTS)[number];

/** Where a function is killed, by the crash table of docs/architecture.md. */
export const KILL_POINTS = ["before-claim", "after-claim", "before-commit", "after-commit"] as const;
export type KillPoint = (typeof KILL_POINTS)[number];

/** What of the orders is of which kind; a plan with enough orders has each kind at least once. */
export const SHARES = {
  killed: 0.08,
  abandoned: 0.12,
  concurrent: 0.2,
  reused: 0.08,
  sequential: 0.2,
  unique: 0.32,
} as const;
export type Kind = keyof typeof SHARES;

/** What of the writes to DynamoDB is disturbed. */
export const FAULT_SHARES = { lostAnswers: 0.12, throttles: 0.04 } as const;

export interface OrderBody {
  readonly sku: string;
  readonly quantity: number;
}

export type Behaviour =
  | { readonly kind: "unique" }
  | { readonly kind: "sequential" | "concurrent"; readonly duplicates: number }
  /** The client gives up while the function claims or commits, and comes back with the same key. */
  | { readonly kind: "abandoned"; readonly giveUpAt: "claim" | "commit"; readonly backAfterMs: number }
  | { readonly kind: "reused"; readonly otherBody: OrderBody }
  /** The function is killed under the first client; the others come when it is dead, and all wait for its lease. */
  | { readonly kind: "killed"; readonly killAt: KillPoint; readonly duplicates: number };

/** One order that somebody wants, and how often and how clumsily it is asked for. */
export interface PlannedOrder {
  readonly tenant: Tenant;
  readonly key: string;
  readonly body: OrderBody;
  readonly behaviour: Behaviour;
}

export interface Plan {
  readonly seed: number;
  readonly orders: readonly PlannedOrder[];
  readonly faultShares: typeof FAULT_SHARES;
}

/** Each key is used by both tenants, for different orders; only the last of an odd number by one of them. */
export function planDemo({ orders, duplicates, seed }: DemoOptions): Plan {
  const random = seededRandom(seed);
  const kinds = random.shuffle(kindsOf(orders));
  const firstKillPoint = random.integer(0, KILL_POINTS.length - 1);
  let kills = 0;
  let key = "";
  const planned = kinds.map((kind, index): PlannedOrder => {
    const tenant = TENANTS[index % TENANTS.length]!;
    if (tenant === TENANTS[0]) key = newKey(random, index / TENANTS.length);
    const body = newBody(random);
    const killAt = KILL_POINTS[(firstKillPoint + kills) % KILL_POINTS.length]!;
    if (kind === "killed") kills++;
    return { tenant, key, body, behaviour: behaviourOf(kind, { random, duplicates, body, killAt }) };
  });
  return { seed, orders: planned, faultShares: FAULT_SHARES };
}

/** Names a plan in a report: equal for equal plans. */
export function planHash(plan: Plan): string {
  return createHash("sha256").update(JSON.stringify(plan)).digest("hex").slice(0, 12);
}

/** One of each, then whatever is furthest below its share. */
function kindsOf(count: number): Kind[] {
  const kinds = Object.keys(SHARES) as Kind[];
  const chosen = kinds.slice(0, count);
  const counts = Object.fromEntries(kinds.map((kind) => [kind, 1])) as Record<Kind, number>;
  const lackOf = (kind: Kind) => SHARES[kind] * count - counts[kind];
  while (chosen.length < count) {
    const next = kinds.reduce((most, kind) => (lackOf(kind) > lackOf(most) ? kind : most));
    counts[next]++;
    chosen.push(next);
  }
  return chosen;
}

function behaviourOf(
  kind: Kind,
  given: { random: SeededRandom; duplicates: number; body: OrderBody; killAt: KillPoint },
): Behaviour {
  const { random, duplicates, body, killAt } = given;
  switch (kind) {
    case "unique":
      return { kind };
    case "sequential":
    case "concurrent":
      return { kind, duplicates };
    case "abandoned":
      return { kind, giveUpAt: random.pick(["claim", "commit"]), backAfterMs: random.integer(10, 500) };
    case "reused":
      return { kind, otherBody: { ...body, quantity: body.quantity + 1 } };
    case "killed":
      return { kind, killAt, duplicates: random.integer(0, 2) };
  }
}

function newKey(random: SeededRandom, number: number): string {
  return `cart-${String(number + 1).padStart(4, "0")}-${random.integer(0x10000000, 0xffffffff).toString(16)}`;
}

function newBody(random: SeededRandom): OrderBody {
  return { sku: random.pick(["tea", "coffee", "cocoa", "mate", "chai"]), quantity: random.integer(1, 999) };
}
