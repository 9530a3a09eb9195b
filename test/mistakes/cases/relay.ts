import { DynamoDBOutbox } from "onceonly/dynamodb";
import { outboxRelay, outboxSweeper } from "onceonly/messaging";
import type { Mistake } from "../given.ts";
import { messageOf } from "../given.ts";

const client = {
  config: {},
  send: () => Promise.reject(Object.assign(new Error("no"), { name: "ValidationException" })),
};
const outbox = new DynamoDBOutbox({ tableName: "records", client });

const change = (table: string, StreamViewType: string) => ({
  eventSource: "aws:dynamodb",
  eventSourceARN: `arn:aws:dynamodb:eu-west-1:123456789012:table/${table}/stream/2026-01-01T00:00:00.000`,
  dynamodb: { SequenceNumber: "1", StreamViewType },
});

const relayed = (event: object) =>
  messageOf(() => outboxRelay({ outbox, destinations: "any" })(event as never));

/** Senders of committed messages in the wrong place. */
export const RELAY_MISTAKES: readonly Mistake[] = [
  {
    made: "passes `outboxRelay` no destinations",
    reportedBy: "error",
    text: "`destinations` must be an array of at least one queue URL, topic ARN, or event bus name or ARN",
    make: () => messageOf(() => outboxRelay({ outbox } as never)),
  },
  {
    made: "connects `outboxRelay` to another table's stream",
    reportedBy: "error",
    text: "the change comes from the table orders, but the outbox is in the table records: connect outboxRelay to the stream of records",
    make: () => relayed({ Records: [change("orders", "NEW_IMAGE")] }),
  },
  {
    made: "connects `outboxRelay` to a stream with keys only",
    reportedBy: "error",
    text: "the stream of the table records has the view type KEYS_ONLY, which doesn't contain the messages: use NEW_IMAGE",
    make: () => relayed({ Records: [change("records", "KEYS_ONLY")] }),
  },
  {
    made: "connects `outboxRelay` to a stream with old images",
    reportedBy: "error",
    text: "the stream of the table records has the view type OLD_IMAGE, which doesn't contain the messages: use NEW_IMAGE",
    make: () => relayed({ Records: [change("records", "OLD_IMAGE")] }),
  },
  {
    made: "runs `outboxRelay` on a schedule",
    reportedBy: "error",
    text: "the event has no records: connect outboxRelay to the table's stream (the one that runs on a schedule is outboxSweeper)",
    make: () => relayed({ "detail-type": "Scheduled Event" }),
  },
  {
    made: "connects `outboxRelay` to a queue",
    reportedBy: "error",
    text: "the records don't come from a DynamoDB stream: connect outboxRelay to the table's stream",
    make: () => relayed({ Records: [{ eventSource: "aws:sqs" }] }),
  },
  {
    made: "connects `outboxSweeper` to the table's stream",
    reportedBy: "error",
    text: "the event comes from a stream: run outboxSweeper on a schedule, and connect outboxRelay to the table's stream",
    make: () =>
      messageOf(() =>
        outboxSweeper({ outbox, destinations: "any" })({ Records: [change("records", "NEW_IMAGE")] }),
      ),
  },
  {
    made: "passes `outboxSweeper` a table without the index",
    reportedBy: "error",
    text: "ValidationException: the table records must have the key pk, and the index outbox of the numbers unsentShard and unsentSince",
    make: () => messageOf(() => outboxSweeper({ outbox, destinations: "any" })({})),
  },
];
