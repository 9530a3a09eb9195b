// What will happen in a run: computed before anything runs, from the options only.
import { createHash } from "node:crypto";
import { DISPATCH_SHARES, type Dispatch, dispatchOf, RELAY_KILL_POINTS } from "./dispatch-plan.ts";
import type { DemoOptions } from "./options.ts";
import { type Behaviour, behaviourOf, KILL_POINTS, ORDER_SHARES, type OrderBody } from "./order-plan.ts";
import { cardOf, PAYMENT_SHARES, type Payment, type PaymentKind, paymentOf } from "./payment-plan.ts";
import { type SeededRandom, seededRandom } from "./random.ts";
import { type PlannedSaga, planSagas } from "./sagas/saga-plan.ts";
import { shareOut } from "./share-out.ts";
import { TENANTS, type Tenant } from "./tenants.ts";

/** The shares of writes to DynamoDB and of sends to SQS that are disturbed. */
export const FAULT_SHARES = { lostAnswers: 0.12, throttles: 0.04, lostSends: 0.1 } as const;

const RECEIPTS = 6;

/** One order that a client wants, how clumsily it is requested, and all the disturbances until it is paid. */
export interface PlannedOrder {
  readonly tenant: Tenant;
  readonly key: string;
  readonly body: OrderBody;
  readonly behaviour: Behaviour;
  readonly dispatch: Dispatch;
  readonly payment: Payment;
}

export interface Plan {
  readonly seed: number;
  readonly orders: readonly PlannedOrder[];
  /** Commits in addition to the orders, with a message for a queue that doesn't exist. */
  readonly receipts: number;
  /** Orders of another service, each placed by one saga. */
  readonly sagas: readonly PlannedSaga[];
  readonly faultShares: typeof FAULT_SHARES;
}

/** Each key is used by both tenants, for different orders; only the last of an odd number by one of them. */
export function planDemo({ orders: count, duplicates, seed }: DemoOptions): Plan {
  const random = seededRandom(seed);
  const kinds = random.shuffle(shareOut(count, ORDER_SHARES));
  const paymentKinds = random.shuffle(shareOut(count, PAYMENT_SHARES));
  // Kills come one after the other, which an outage does not wait for.
  const isKilled = (index: number) => kinds[index] === "killed" || paymentKinds[index] === "killed";
  const others = kinds.filter((_, index) => !isKilled(index)).length;
  const dispatchKinds = random.shuffle(shareOut(others, DISPATCH_SHARES));
  const nextOrderKill = oneAfterTheOther(KILL_POINTS, random);
  const nextRelayKill = oneAfterTheOther(RELAY_KILL_POINTS, random);
  const nextConsumerKill = oneAfterTheOther(KILL_POINTS, random);
  let key = "";
  const orders = kinds.map((kind, index): PlannedOrder => {
    const tenant = TENANTS[index % TENANTS.length]!;
    if (tenant === TENANTS[0]) key = newKey(random, index / TENANTS.length);
    const paymentKind = paymentKinds[index]!;
    const dispatchKind = (!isKilled(index) && dispatchKinds.pop()) || "relayed";
    const body = newBody(random, paymentKind);
    return {
      tenant,
      key,
      body,
      behaviour: behaviourOf(kind, { random, duplicates, body, nextKillPoint: nextOrderKill }),
      dispatch: dispatchOf(dispatchKind, nextRelayKill),
      payment: paymentOf(paymentKind, { random, nextKillPoint: nextConsumerKill }),
    };
  });
  const sagas = planSagas(TENANTS, random);
  return { seed, orders, receipts: RECEIPTS, sagas, faultShares: FAULT_SHARES };
}

/** Names a plan in a report: equal for equal plans. */
export function planHash(plan: Plan): string {
  return createHash("sha256").update(JSON.stringify(plan)).digest("hex").slice(0, 12);
}

/** Each in turn, from any of them on. */
function oneAfterTheOther<T>(points: readonly T[], random: SeededRandom): () => T {
  let next = random.integer(0, points.length - 1);
  return () => points[next++ % points.length]!;
}

function newKey(random: SeededRandom, number: number): string {
  return `cart-${String(number + 1).padStart(4, "0")}-${random.integer(0x10000000, 0xffffffff).toString(16)}`;
}

function newBody(random: SeededRandom, paymentKind: PaymentKind): OrderBody {
  return {
    sku: random.pick(["tea", "coffee", "cocoa", "mate", "chai"]),
    quantity: random.integer(1, 999),
    card: cardOf(paymentKind),
  };
}
