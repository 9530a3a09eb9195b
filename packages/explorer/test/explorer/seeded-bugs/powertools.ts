// Powertools idempotency around a write: when the function dies between the two, the next attempt writes again.
import { randomUUID } from "node:crypto";
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { Context } from "aws-lambda";
import { idempotent } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";

interface Invoice {
  readonly orderId: string;
}

const TableName = process.env.ORDERS_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());
const invoiceOf = ({ orderId }: Invoice) => ({ tenant: "acme", id: randomUUID(), orderId });

export const handler = makeIdempotent(
  async (event: Invoice, _context: Context) => {
    const invoice = invoiceOf(event);
    await database.send(new PutCommand({ TableName, Item: invoice }));
    return { id: invoice.id };
  },
  {
    persistenceStore: new DynamoDBPersistenceLayer({ tableName: "powertools" }),
    config: new IdempotencyConfig({ throwOnNoIdempotencyKey: true, eventKeyJmesPath: "orderId" }),
  },
);

export const mended = idempotent<unknown, Invoice, DynamoDBWrite>(
  async (event, { idempotency }) => {
    const invoice = invoiceOf(event);
    return idempotency.commit({ id: invoice.id }, { writes: [{ Put: { TableName, Item: invoice } }] });
  },
  {
    operation: "invoice",
    store: new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE }),
    key: ({ orderId }) => orderId,
  },
);
