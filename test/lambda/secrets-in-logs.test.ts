// What the default observers and Lambda itself write to the log of an error that holds a customer's data.
import { inspect } from "node:util";
import { idempotent, idempotentBatch } from "onceonly";
import { beforeAll, describe, expect, inject, it, vi } from "vitest";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { connect, createTable } from "../kit/tables.ts";
import { answered, sqsRecord } from "./batch/given.ts";
import { given } from "./given.ts";

const CANARY = "canary-5f2e";

/** As Lambda's runtime writes an error in its JSON log format: with all that is enumerable. */
const asLambda = (error: unknown) =>
  JSON.stringify(error, (_, value: unknown) =>
    value instanceof Error
      ? Object.assign({ errorMessage: value.message, stackTrace: value.stack }, value)
      : value,
  );

describe.each(inject("dynamodbEngines"))("the log, on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let orders: string;
  let store: DynamoDBStore;

  beforeAll(async () => {
    const [tableName, ordersTable] = await Promise.all([createTable(client), createTable(client, "id")]);
    orders = ordersTable;
    store = new DynamoDBStore({ tableName, client });
  });

  const insert = (): DynamoDBWrite => ({
    Put: {
      TableName: orders,
      Item: { id: "1", card: CANARY, email: `${CANARY}@example.com` },
      ConditionExpression: "attribute_not_exists(id)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    },
  });

  it("H38: holds nothing of an item that refused a commit, which the handler can read all the same", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const { context } = given();
    const options = { store, leaseSeconds: 30 };
    const batch = idempotentBatch<ReturnType<typeof sqsRecord>, DynamoDBWrite>(
      async (_, { idempotency }) => idempotency.commit(1, { writes: [insert()] }),
      { ...options, operation: "batch" },
    );
    const single = idempotent(
      async (_: object, { idempotency }) => idempotency.commit(1, { writes: [insert()] }),
      { ...options, operation: "single", key: () => "k" },
    );

    const answers = [];
    for (const id of ["m1", "m2"])
      answers.push(await answered(batch({ Records: [sqsRecord(id)] }, context())));
    const thrown = await single({}, context()).catch((error: unknown) => error);

    expect(answers.map(({ batchItemFailures }) => batchItemFailures.length)).toEqual([0, 1]);
    expect(thrown).toMatchObject({ code: "TRANSACTION_CONDITION", item: { card: CANARY } });
    expect(log.mock.calls).toHaveLength(1);
    for (const error of [log.mock.calls[0]?.[1], thrown]) {
      expect(error).toMatchObject({ code: "TRANSACTION_CONDITION" });
      expect(inspect(error, { depth: Number.POSITIVE_INFINITY })).not.toContain(CANARY);
      expect(asLambda(error)).not.toContain(CANARY);
      expect(asLambda([error, (error as Error).cause])).not.toContain(CANARY);
    }
    log.mockRestore();
  });
});
