// What the payments queue's consumer receives, and what happens to it.
import type { SQSEvent } from "aws-lambda";
import type { FunctionHost } from "../../../local/lib/index.ts";
import { type Answered, type Invocation, type Witness, witness } from "./witness.ts";

/** One message, given to the consumer once. */
export interface Delivery {
  readonly orderId: string;
  readonly messageId: string;
  /** `undefined` while the consumer runs; "lost" when it ended without an answer. */
  end?: "acknowledged" | "returned" | "lost" | undefined;
  /** Whether the consumer tried to commit the order's payment in between; otherwise it had it from the record. */
  hasCommitted: boolean;
  readonly receiptHandle: string;
}

export interface Deliveries {
  readonly all: readonly Delivery[];
  readonly consumer: Witness<SQSEvent>;
  /** The deliveries of an order that run now. */
  running(orderId: string): readonly Delivery[];
  /** SIGKILLs a consumer that has a message of this order now. @returns whether there was one */
  killConsumerOf(orderId: string): boolean;
}

export function watchDeliveries(host: FunctionHost): Deliveries {
  const all: Delivery[] = [];
  const ofInvocation = new Map<string, Delivery[]>();
  const running = () => [...ofInvocation.values()].flat();

  function start({ requestId, event }: Invocation<SQSEvent>): void {
    const deliveries = event.Records.map(({ messageId, receiptHandle, body }): Delivery => {
      return { orderId: orderIdIn(body), messageId, receiptHandle, hasCommitted: false };
    });
    ofInvocation.set(requestId, deliveries);
    all.push(...deliveries);
  }

  function end({ requestId }: Invocation<SQSEvent>, answered: Answered): void {
    const failures = failuresIn(answered);
    for (const delivery of ofInvocation.get(requestId) ?? []) {
      if (failures === undefined) delivery.end = "lost";
      else delivery.end = failures.has(delivery.messageId) ? "returned" : "acknowledged";
    }
    ofInvocation.delete(requestId);
  }

  const consumer = witness<SQSEvent>(host, { onStart: start, onEnd: end });
  return {
    all,
    consumer,
    running: (orderId) => running().filter((delivery) => delivery.orderId === orderId),
    killConsumerOf: (orderId) =>
      consumer.kill(({ Records }) => Records.some(({ body }) => orderIdIn(body) === orderId)),
  };
}

function failuresIn(answered: Answered): Set<string> | undefined {
  if (!answered) return undefined;
  const { batchItemFailures = [] } = Object(answered.answer) as {
    batchItemFailures?: { itemIdentifier: string }[];
  };
  return new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
}

function orderIdIn(body: string): string {
  return (JSON.parse(body) as { orderId: string }).orderId;
}
