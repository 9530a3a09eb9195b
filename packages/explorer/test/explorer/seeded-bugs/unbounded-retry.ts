// A write that is tried until it succeeds.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";

interface Shipment {
  readonly id: string;
}

const database = DynamoDBDocumentClient.from(new DynamoDBClient());

const put = ({ id }: Shipment) =>
  database.send(new PutCommand({ TableName: process.env.ORDERS_TABLE, Item: { tenant: "acme", id } }));

export const handler = async (event: Shipment) => {
  for (;;) {
    try {
      await put(event);
      return { shipped: true };
    } catch {
      // Again.
    }
  }
};

export const mended = async (event: Shipment) => {
  await put(event);
  return { shipped: true };
};
