// The road from the consumer to the payment gateway: each charge that is asked for passes here, or does not.
import type { Carry } from "../../../../test/kit/faults/middleman.ts";

export type Passage = "pass" | "refuse";

export interface Gateway {
  readonly carry: Carry;
  /** Asks `act` about each requested charge of this order. @returns a function that ends it */
  on(orderId: string, act: () => Promise<Passage> | Passage): () => void;
  /** Charges that were asked for and refused here. */
  readonly refusals: number;
}

/** How often a card of functions/sandbox-gateway.ts goes wrong under one key. */
const GOES_WRONG: Readonly<Record<string, number>> = { card_fails_first: 2, card_answer_lost: 1 };

/** A rejected request has not reached the gateway: nothing is charged. */
const REFUSAL = { status: 503, headers: { "content-type": "application/json" }, body: '{"message":"down"}' };

/** @param countsByOrder whether a card goes wrong so often for an order, under whatever keys @default false */
export function createGateway(countsByOrder = false): Gateway {
  const watched = new Map<string, () => Promise<Passage> | Passage>();
  const attempts = new Map<string, number>();
  let refusals = 0;

  function withCardMended(body: string): string {
    const charge = JSON.parse(body) as { orderId: string; card: string };
    const before = attempts.get(charge.orderId) ?? 0;
    attempts.set(charge.orderId, before + 1);
    const isMended = before >= (GOES_WRONG[charge.card] ?? Number.POSITIVE_INFINITY);
    return isMended ? JSON.stringify({ ...charge, card: "card_ok" }) : body;
  }

  return {
    async carry(request, handOn) {
      const { orderId } = JSON.parse(request.body) as { orderId: string };
      if ((await watched.get(orderId)?.()) === "refuse") {
        refusals++;
        return REFUSAL;
      }
      return handOn(countsByOrder ? { ...request, body: withCardMended(request.body) } : request);
    },
    on(orderId, act) {
      watched.set(orderId, act);
      return () => void watched.delete(orderId);
    },
    get refusals() {
      return refusals;
    },
  };
}
