// Messages of a commit that cannot be sent, or not as they were meant.
import { type OutgoingMessage, runOnce } from "onceonly";
import { FifoProducer } from "onceonly/messaging";
import { MemoryStore } from "onceonly/testing";
import type { Mistake } from "../given.ts";
import { messageOf } from "../given.ts";

const options = { operation: "ship", store: new MemoryStore(), leaseSeconds: 30 };
const ACCOUNT = "https://sqs.eu-central-1.amazonaws.com/123456789012";
const given = { queue: `${ACCOUNT}/payments.fifo`, key: "o1/pay", group: "o1", body: {} };
let calls = 0;

/** The error that a handler gets for committing these messages. */
const committing =
  (...messages: readonly object[]) =>
  () =>
    messageOf(() =>
      runOnce(options, `key-${++calls}`, {}, ({ commit }) =>
        commit("shipped", { messages: messages as OutgoingMessage[] }),
      ),
    );

export const MESSAGE_MISTAKES: readonly Mistake[] = [
  {
    made: "sends to a topic's name",
    reportedBy: "error",
    text: "messages[0]: `topic` must be a topic ARN, such as arn:aws:sns:eu-central-1:123456789012:orders (got a string of 6 characters)",
    make: committing({ topic: "orders", key: "o1", body: {} }),
  },
  {
    made: "sends to a queue's ARN",
    reportedBy: "error",
    text: "messages[0]: `queue` must be a queue URL, such as https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo",
    make: committing({ ...given, queue: "arn:aws:sqs:eu-central-1:123456789012:payments.fifo" }),
  },
  {
    made: "sends to a queue from an environment variable that isn't set",
    reportedBy: "error",
    text: "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo (got undefined)",
    make: committing({ ...given, queue: undefined }),
  },
  {
    made: "sends to a FIFO queue without a group",
    reportedBy: "error",
    text: "messages[0]: the group is missing: pass the id of whatever must stay in order",
    make: committing({ ...given, group: undefined }),
  },
  {
    made: "sends a message without a key",
    reportedBy: "error",
    text: "messages[0]: the key is missing: pass the business key (onceonly doesn't deduplicate by content, because two equal messages may both be meant)",
    make: committing({ ...given, key: undefined }),
  },
  {
    made: "gives two messages the same key",
    reportedBy: "error",
    text: "messages[1]: has the key of messages[0] but a different body, attributes or time: give each message its own key",
    make: committing(given, { ...given, body: { cents: 500 } }),
  },
  {
    made: "passes a deduplication id",
    reportedBy: "error",
    text: "messages[0]: `deduplicationId` isn't accepted, because ids are derived from the key and the group (a random id would deduplicate nothing)",
    make: committing({ ...given, deduplicationId: "7" }),
  },
  {
    made: "gives a message the fields of SendMessage",
    reportedBy: "error",
    text: "messages[0]: must be an object with `queue`, `topic` or `bus` (its destination)",
    make: committing({ QueueUrl: given.queue, MessageBody: "{}" }),
  },
  {
    made: "delays a message in milliseconds",
    reportedBy: "error",
    text: "messages[0]: `delaySeconds` must be a whole number of seconds between 0 and 900",
    make: committing({ queue: `${ACCOUNT}/mails`, key: "o1", body: {}, delaySeconds: 5000 }),
  },
  {
    made: "creates a `FifoProducer` for a standard queue",
    reportedBy: "error",
    text: "`queueUrl` must be the URL of a FIFO queue, which ends in .fifo",
    make: () => messageOf(() => new FifoProducer({ queueUrl: `${ACCOUNT}/payments` })),
  },
];
