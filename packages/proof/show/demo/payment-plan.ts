// What happens to each order's payment: at the consumer, in the queue and at the gateway. Pure.
import { KILL_POINTS, type KillPoint } from "./order-plan.ts";
import type { SeededRandom } from "./random.ts";
import type { Share } from "./share-out.ts";

/** The shares of payments by their kind. */
export const PAYMENT_SHARES = {
  killed: { share: 0.08, most: 20, least: KILL_POINTS.length },
  poison: { share: 0.05 },
  redelivered: { share: 0.06 },
  "answer-lost": { share: 0.08 },
  resent: { share: 0.1 },
  failing: { share: 0.07 },
  declined: { share: 0.1 },
  slow: { share: 0.05 },
  plain: { share: 0.41 },
} as const satisfies Record<string, Share>;
export type PaymentKind = keyof typeof PAYMENT_SHARES;

export type Payment =
  | { readonly kind: "plain" | "declined" }
  /** The gateway is slow, fails at first, or charges and then fails to respond. */
  | { readonly kind: "slow" | "failing" | "answer-lost" }
  /** The visibility of the message ends while the consumer runs. */
  | { readonly kind: "redelivered" }
  /** A producer sends the message again, under other ids of the queue. */
  | { readonly kind: "resent"; readonly times: number }
  /** The consumer is killed in the middle of a batch. */
  | { readonly kind: "killed"; readonly killAt: KillPoint }
  /** The gateway fails until the message is in the dead-letter queue; then it is repaired, and the message redriven. */
  | { readonly kind: "poison" };

export function paymentOf(
  kind: PaymentKind,
  { random, nextKillPoint }: { readonly random: SeededRandom; readonly nextKillPoint: () => KillPoint },
): Payment {
  if (kind === "killed") return { kind, killAt: nextKillPoint() };
  return kind === "resent" ? { kind, times: random.integer(1, 2) } : { kind };
}

/** The card that makes the gateway behave so. */
export function cardOf(kind: PaymentKind): string {
  return CARDS[kind] ?? "card_ok";
}

const CARDS: Partial<Record<PaymentKind, string>> = {
  slow: "card_slow",
  failing: "card_fails_first",
  "answer-lost": "card_answer_lost",
  declined: "card_declined",
};
