// Reserves stock for each message once, however often SQS delivers it, and also after a redrive.
import { SQS } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { idempotentBatch, PermanentError } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import type { OrderLine } from "./producer.ts";

const { STOCK_TABLE, IDEMPOTENCY_TABLE } = process.env;
const sqs = new SQS();

export const handler = idempotentBatch(
  async (message: SQSRecord, { idempotency }) => {
    const { orderId, sku, quantity } = JSON.parse(message.body) as OrderLine;
    // No retry helps: the message is recorded as failed, and ends in the dead-letter queue.
    if (!(quantity > 0)) throw new PermanentError(`order ${orderId} reserves nothing`);
    // Adding twice would reserve twice. In one transaction with the record it happens once.
    return idempotency.commit(null, {
      writes: [
        {
          Update: {
            TableName: STOCK_TABLE,
            Key: { sku },
            UpdateExpression: "ADD reserved :quantity",
            ExpressionAttributeValues: { ":quantity": quantity },
          },
        },
      ],
    });
  },
  {
    operation: "reserve-stock",
    store: new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE }),
    // A message that another invocation is working on stays hidden, and uses up no receive.
    changeVisibility: (request) => sqs.changeMessageVisibilityBatch(request),
  },
);
