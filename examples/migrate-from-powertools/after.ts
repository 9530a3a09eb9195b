// After: `commit` debits the wallet and records the answer in one transaction, so no crash comes between them.
import { idempotent } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";

const { WALLETS_TABLE, IDEMPOTENCY_TABLE } = process.env;

export const handler = idempotent(
  async ({ orderId, wallet, cents }: { orderId: string; wallet: string; cents: number }, { idempotency }) =>
    idempotency.commit(
      { orderId, paid: cents },
      {
        writes: [
          {
            Update: {
              TableName: WALLETS_TABLE,
              Key: { wallet },
              UpdateExpression: "SET balance = balance - :cents",
              ConditionExpression: "balance >= :cents",
              ExpressionAttributeValues: { ":cents": cents },
            },
          },
        ],
      },
    ),
  {
    operation: "pay-order",
    store: new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE }),
    key: ({ orderId }) => orderId,
    retentionSeconds: 86_400,
  },
);
