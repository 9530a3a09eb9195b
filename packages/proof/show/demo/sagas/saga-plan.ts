// A plan's sagas, POST /shipped-orders: each one's request, and when the process that works on it is killed. Pure.
import type { OrderBody } from "../order-plan.ts";
import type { SeededRandom } from "../random.ts";
import type { Tenant } from "../tenants.ts";

/**
 * The requests of functions/place-order-saga.ts that change something in the shop or elsewhere, by the step that makes them.
 * A kill between two of them leaves the state after the first.
 */
export const SAGA_EFFECTS = {
  order: { at: "database", step: "place-order/order" },
  stock: { at: "database", step: "place-order/stock" },
  charge: { at: "gateway", step: "place-order/charge" },
  ship: { at: "gateway", step: "place-order/ship" },
  paid: { at: "database", step: "" },
  refund: { at: "gateway", step: "place-order/charge/compensate" },
  release: { at: "database", step: "place-order/stock/compensate" },
  cancel: { at: "database", step: "place-order/order/compensate" },
} as const;
export type SagaEffect = keyof typeof SAGA_EFFECTS;

export interface SagaKill {
  readonly when: "before" | "after";
  readonly effect: SagaEffect;
}

export interface PlannedSaga {
  readonly tenant: Tenant;
  readonly key: string;
  readonly body: OrderBody;
  /** The order's outcome. */
  readonly end: "paid" | "canceled";
  readonly kill?: SagaKill;
}

type Kind = Pick<PlannedSaga, "end" | "kill"> & { readonly sku?: string; readonly card?: string };

/** The carrier of functions/sandbox-desk.ts does not accept it, and the saga turns back. */
const UNSHIPPABLE = "anvil";
const BACK: readonly SagaEffect[] = ["refund", "release", "cancel"];

function killed(when: SagaKill["when"], effect: SagaEffect): Kind {
  const kill = { when, effect };
  return BACK.includes(effect) ? { end: "canceled", sku: UNSHIPPABLE, kill } : { end: "paid", kill };
}

/** All of them are in each plan, however small: a regression of one kind shows in CI too. */
const KINDS: readonly Kind[] = [
  // Charged, the answer lost, and killed.
  killed("after", "charge"),
  killed("after", "refund"),
  // Charged, and the gateway reports that it had no response in time.
  { end: "paid", card: "card_answer_lost" },
  { end: "canceled", card: "card_declined" },
  { end: "paid" },
  killed("before", "charge"),
  killed("before", "refund"),
  ...(["order", "stock", "ship", "paid", "release", "cancel"] as const).flatMap((effect) => [
    killed("before", effect),
    killed("after", effect),
  ]),
];

export function planSagas(tenants: readonly Tenant[], random: SeededRandom): PlannedSaga[] {
  return KINDS.map(({ sku = "shipped-tea", card = "card_ok", ...kind }, index) => ({
    tenant: tenants[index % tenants.length]!,
    key: `shipment-${index + 1}-${random.integer(0x10000000, 0xffffffff).toString(16)}`,
    body: { sku, quantity: random.integer(1, 999), card },
    ...kind,
  }));
}

export function sagaKillName({ when, effect }: SagaKill): string {
  return `killed ${when} ${effect}`;
}
