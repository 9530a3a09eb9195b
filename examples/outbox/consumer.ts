// Pays each order once: the message's key has travelled with it, so duplicates and redrives find the same record.
import { SQS } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";

const { ORDERS_TABLE, LEDGER_TABLE, IDEMPOTENCY_TABLE } = process.env;
const sqs = new SQS();

export const handler = idempotentBatch(
  async (message: SQSRecord, { idempotency }) => {
    const { orderId, cents } = JSON.parse(message.body) as { orderId: string; cents: number };
    // The condition guards an order whose message is redriven after its record has expired.
    const paid = {
      TableName: ORDERS_TABLE,
      Key: { id: orderId },
      UpdateExpression: "SET #state = :paid",
      ConditionExpression: "#state = :created",
      ExpressionAttributeNames: { "#state": "state" },
      ExpressionAttributeValues: { ":paid": "paid", ":created": "created" },
    };
    const entry = { id: idempotency.childKey("entry"), orderId, cents };
    return idempotency.commit(null, {
      writes: [{ Update: paid }, { Put: { TableName: LEDGER_TABLE, Item: entry } }],
    });
  },
  {
    operation: "pay-order",
    store: new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE }),
    changeVisibility: (request) => sqs.changeMessageVisibilityBatch(request),
  },
);
