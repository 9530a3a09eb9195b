// Disturbs each order's message and payment according to its plan. A disturbance is set up when the commit arrives:
// the message can't have reached anything before.
import { setTimeout as sleep } from "node:timers/promises";
import type { Passage } from "./gateway.ts";
import type { Interference } from "./interference.ts";
import type { Journal } from "./journal.ts";
import { killAt } from "./kill-points.ts";
import { bringsRecord, createOrderBook, orderRecordKey, paymentRecordKey } from "./order-book.ts";
import type { Plan, PlannedOrder } from "./plan.ts";
import type { Stage } from "./stage.ts";

export interface DisturbancesOptions {
  readonly plan: Plan;
  readonly stage: Pick<Stage, "deliveries" | "relay" | "sweeper" | "stream" | "queues">;
  readonly interference: Pick<Interference, "faults" | "gateway">;
  readonly journal: Pick<Journal, "happened" | "has">;
}

export interface Disturbances {
  /** From now on the gateway accepts the orders for which it was down. */
  mendGateway(): void;
}

/** The consumer waits 4 seconds for the gateway. */
const HOLD_MS = 2500;
const LOOK_EVERY_MS = 20;
/** Each that is held keeps one of the consumer's few batches. */
const MOST_HELD = 2;

export function setUpDisturbances(options: DisturbancesOptions): Disturbances {
  const { plan, stage, interference, journal } = options;
  const { faults, gateway } = interference;
  const { deliveries, relay, stream, queues, sweeper } = stage;
  const book = createOrderBook(plan);
  const watched = new Set<PlannedOrder>();
  let isMended = false;
  let held = 0;

  faults.onOrder((newOrder) => {
    const order = book.enter(newOrder);
    if (!order) return;
    // A retry after a death before the commit has another id for the same record.
    if (!watched.has(order)) watchOutbox(order);
    watched.add(order);
    watchPayment(order, newOrder.id);
  });

  function watchOutbox(order: PlannedOrder): void {
    const recordKey = orderRecordKey(order);
    const { dispatch } = order;
    if (!stream.enabled) journal.happened(order, "committed while the stream was off");
    if (dispatch.kind === "relay-killed") {
      killAt(faults, recordKey, dispatch.killAt, () => {
        const isKilled = relay.kill((event) => bringsRecord(event, recordKey));
        if (isKilled) journal.happened(order, `relay killed ${dispatch.killAt}`);
        return isKilled;
      });
    }
    if (dispatch.kind === "swept") {
      const stop = faults.on(recordKey, "mark", () => {
        stop();
        // With the stream off there is no relay whose mark it could be.
        if (sweeper.running.size > 0 && relay.running.size === 0)
          journal.happened(order, "sent by the sweeper");
        return undefined;
      });
    }
  }

  function watchPayment(order: PlannedOrder, orderId: string): void {
    const recordKey = paymentRecordKey(orderId);
    const { payment } = order;
    faults.on(recordKey, "commit", () => {
      for (const delivery of deliveries.running(orderId)) delivery.hasCommitted = true;
      return undefined;
    });
    if (payment.kind === "killed") {
      const incident = `consumer killed ${payment.killAt}` as const;
      killAt(faults, recordKey, payment.killAt, () => {
        const isKilled = !journal.has(order, incident) && deliveries.killConsumerOf(orderId);
        if (isKilled) journal.happened(order, incident);
        return isKilled;
      });
    }
    if (payment.kind === "poison") gateway.on(orderId, () => (isMended ? "pass" : "refuse"));
    if (payment.kind === "redelivered") {
      const stop = gateway.on(orderId, async () => {
        // Another order with the same key was, if there are several.
        if (journal.has(order, "delivered again while the consumer ran")) return "pass";
        const passage = await holdUntilRedelivered(orderId);
        if (passage === "refuse") return passage;
        stop();
        journal.happened(order, "delivered again while the consumer ran");
        return passage;
      });
    }
  }

  /** Rejects if no second consumer comes in time, so it is tried again with the next delivery. */
  async function holdUntilRedelivered(orderId: string): Promise<Passage> {
    const [first] = deliveries.running(orderId);
    if (!first || held >= MOST_HELD) return "refuse";
    held++;
    try {
      await queues.endVisibility(first.receiptHandle);
      const untilMs = Date.now() + HOLD_MS;
      while (Date.now() < untilMs) {
        if (deliveries.running(orderId).length > 1) return "pass";
        await sleep(LOOK_EVERY_MS);
      }
      return "refuse";
    } finally {
      held--;
    }
  }

  return {
    mendGateway() {
      isMended = true;
    },
  };
}
