// The road from the consumer to the payment gateway: each charge that is asked for passes here, or does not.
import type { Carry } from "../../../kit/faults/middleman.ts";

export type Passage = "pass" | "refuse";

export interface Gateway {
  readonly carry: Carry;
  /** Asks `act` about each charge of this order that is asked for. @returns what ends that */
  on(orderId: string, act: () => Promise<Passage> | Passage): () => void;
  /** Charges that were asked for and refused here. */
  readonly refusals: number;
}

/** What is refused has not reached the gateway: nothing is charged. */
const REFUSAL = { status: 503, headers: { "content-type": "application/json" }, body: '{"message":"down"}' };

export function createGateway(): Gateway {
  const watched = new Map<string, () => Promise<Passage> | Passage>();
  let refusals = 0;
  return {
    async carry(request, handOn) {
      const { orderId } = JSON.parse(request.body) as { orderId: string };
      if ((await watched.get(orderId)?.()) !== "refuse") return handOn(request);
      refusals++;
      return REFUSAL;
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
