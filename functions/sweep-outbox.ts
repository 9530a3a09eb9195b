// Sends the messages that the stream of the idempotency table has lost, every minute.
import { DynamoDBOutbox, outboxSweeper } from "onceonly";

export const handler = outboxSweeper({
  outbox: new DynamoDBOutbox({ tableName: process.env.IDEMPOTENCY_TABLE }),
});
