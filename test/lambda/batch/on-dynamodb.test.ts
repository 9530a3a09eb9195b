import type { SQSRecord } from "aws-lambda";
import { DynamoDBStore, idempotentBatch } from "onceonly";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { connect, createTable } from "../../dynamodb/tables.ts";
import { fifoRecord, givenBatch, returned } from "./sqs-records.ts";

describe.each(inject("dynamodbEngines"))("idempotentBatch on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let tableName: string;
  beforeAll(async () => {
    tableName = await createTable(client);
  });

  it("H26: commits each payment once and in the order of its group, over failures and redeliveries", async () => {
    const { options, context } = givenBatch();
    // The real time: the engine's clock is compared with it.
    const { clock: _, random: __, ...rest } = options;
    const store = new DynamoDBStore({ tableName, client });
    const log: string[] = [];
    let calls = 0;
    const handler = idempotentBatch(
      async ({ body }: SQSRecord, { idempotency }) => {
        calls += 1;
        if (calls % 3 === 0) throw new Error("every third time");
        const Item = { pk: `payment ${body}`, amount: calls };
        const ConditionExpression = "attribute_not_exists(pk)";
        await idempotency.commit(body, {
          writes: [{ Put: { TableName: tableName, Item, ConditionExpression } }],
        });
        log.push(body);
      },
      { ...rest, store, leaseSeconds: 30 },
    );
    const Records = ["a1", "b1", "a2", "b2", "a3", "b3"].map((id) => fifoRecord(id, id[0] as string));
    let left: readonly unknown[] = Records.map(({ messageId }) => messageId);
    for (let delivery = 0; delivery < 10 && left.length > 0; delivery++) {
      const batch = Records.filter(({ messageId }) => left.includes(messageId));
      left = returned(await handler({ Records: batch }, context()));
    }
    const redelivered = await handler({ Records }, context());

    expect([left, returned(redelivered)]).toEqual([[], []]);
    expect(log.filter((body) => body.includes("of a"))).toEqual(
      ["a1", "a2", "a3"].map((id) => `body of ${id}`),
    );
    expect(log.filter((body) => body.includes("of b"))).toEqual(
      ["b1", "b2", "b3"].map((id) => `body of ${id}`),
    );
  });
});
