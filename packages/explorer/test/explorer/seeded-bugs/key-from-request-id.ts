// onceonly under the id of the invocation, which is another one when the producer sends again.
import { idempotent } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";

interface Refund {
  readonly orderId: string;
  readonly cents: number;
}

const store = new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE });

function refundUnder(key: (event: Refund, context: { awsRequestId?: string }) => string | undefined) {
  return idempotent<unknown, Refund, DynamoDBWrite>(
    async ({ orderId, cents }, { idempotency }) =>
      idempotency.commit(
        { refunded: cents },
        {
          writes: [
            {
              Update: {
                TableName: process.env.ORDERS_TABLE,
                Key: { tenant: "acme", id: orderId },
                UpdateExpression: "SET refundedCents = refundedCents + :cents",
                ExpressionAttributeValues: { ":cents": cents },
              },
            },
          ],
        },
      ),
    { operation: "refund", store, key: key as (event: Refund) => string | undefined },
  );
}

export const handler = refundUnder((_event, context) => context.awsRequestId);

export const mended = refundUnder(({ orderId }) => orderId);
