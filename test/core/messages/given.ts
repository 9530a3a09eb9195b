// Messages for each kind of destination, and what a commit left of them.
import type { World } from "../world.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";
const TOPIC = "arn:aws:sns:eu-central-1:123456789012:orders";

export const toQueue = { queue: QUEUE, key: "order-7/created", body: "text" };
export const toFifo = { ...toQueue, queue: `${QUEUE}.fifo`, group: "order-7" };
export const toTopic = { topic: TOPIC, key: "order-7/created", body: "text" };
export const toBus = {
  bus: "orders",
  source: "shop",
  detailType: "created",
  key: "order-7/created",
  body: {},
};

/** A message of a commit, and what is stored of it. */
export const PAID = { ...toFifo, body: { orderId: "order-7" } };
export const STORED = { ...toFifo, body: '{"orderId":"order-7"}', traceparent: undefined };

/** What waits to be sent, in the order of the commits. */
export const unsent = (world: World) =>
  Promise.all(world.memory.outbox.changes.map((recordKey) => world.memory.outbox.load(recordKey)));
