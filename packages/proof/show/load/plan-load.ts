// The requests, and their order: computed before anything runs, from the options only. Pure.
import { hashTuple } from "../../../../lib/core/identity.ts";
import { cardOf } from "../demo/payment-plan.ts";
import type { PlannedOrder } from "../demo/plan.ts";
import { type SeededRandom, seededRandom } from "../demo/random.ts";
import type { Answer } from "../demo/seen.ts";
import { shareOut } from "../demo/share-out.ts";
import { TENANTS } from "../demo/tenants.ts";
import type { LoadSizes } from "./options.ts";

export type LoadOrder = Pick<PlannedOrder, "tenant" | "key" | "body">;

export interface Ask {
  readonly order: LoadOrder;
  /** With the order's own body, or with another one under the same key. */
  readonly asked: Answer["asked"];
}

export interface LoadPlan {
  readonly orders: readonly LoadOrder[];
  /** In the order in which they are sent: neighbours are under way together. */
  readonly asks: readonly Ask[];
}

const CARD_SHARES = { plain: { share: 0.95 }, declined: { share: 0.05 } } as const;
const KEY_SHARES = { reused: { share: 0.2 }, once: { share: 0.8 } } as const;

/** Each key is used by both tenants, for different orders; only the last of an odd number by one of them. */
export function planLoad(sizes: LoadSizes): LoadPlan {
  const { orders: count, duplicates, hot, seed } = sizes;
  const random = seededRandom(seed);
  const cards = random.shuffle(shareOut(count, CARD_SHARES));
  const keys = random.shuffle(shareOut(count, KEY_SHARES));
  const run = hashTuple(...[count, duplicates, hot, seed].map(String)).slice(0, 8);
  const orders = cards.map((card, index): LoadOrder => {
    const tenant = TENANTS[index % TENANTS.length]!;
    const number = String(Math.floor(index / TENANTS.length) + 1).padStart(4, "0");
    const quantity = random.integer(1, 999);
    return { tenant, key: `load-${run}-${number}`, body: { sku: "tea", quantity, card: cardOf(card) } };
  });
  const ownAsks = orders.flatMap((order, index) => [
    ...asksFor(order, index, { ...sizes, random }),
    ...(keys[index] === "reused" ? [later({ order, asked: "other-body" }, index, count, random)] : []),
  ]);
  const timeline = [...ownAsks, ...hotAsks(orders[0]!, ownAsks.length, { ...sizes, random })];
  const asks = timeline.sort((one, other) => one.at - other.at).map(({ ask }) => ask);
  return { orders, asks };
}

/** A body that makes another request under the same key. */
export function otherBodyOf({ body }: LoadOrder): LoadOrder["body"] {
  return { ...body, quantity: body.quantity + 1 };
}

export function isDeclined({ body }: LoadOrder): boolean {
  return body.card === cardOf("declined");
}

/** The order with index 0 is first asked for at 0, the next at 1. */
interface Timed {
  readonly at: number;
  readonly ask: Ask;
}

type Sizes = LoadSizes & { readonly random: SeededRandom };

/** Half of the duplicates come with the first request. */
function asksFor(order: LoadOrder, index: number, { orders, duplicates, random }: Sizes): Timed[] {
  const ask: Ask = { order, asked: "order" };
  const together = 1 + Math.ceil(duplicates / 2);
  return [
    ...Array.from({ length: together }, () => ({ at: index, ask })),
    ...Array.from({ length: 1 + duplicates - together }, () => later(ask, index, orders, random)),
  ];
}

function later(ask: Ask, index: number, count: number, random: SeededRandom): Timed {
  return { at: index + 1 + random.fraction() * (count - index), ask };
}

/** Spread over the whole time, so they meet each other. */
function hotAsks(order: LoadOrder, others: number, { orders, hot, random }: Sizes): Timed[] {
  const length = Math.round((others * hot) / (100 - hot));
  return Array.from({ length }, () => ({
    at: random.fraction() * orders,
    ask: { order, asked: "order" },
  }));
}
