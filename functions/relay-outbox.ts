// Sends the messages that operations committed, as the stream of the idempotency table brings them.
import { DynamoDBOutbox, outboxRelay } from "onceonly";

export const handler = outboxRelay({
  outbox: new DynamoDBOutbox({ tableName: process.env.IDEMPOTENCY_TABLE }),
});
