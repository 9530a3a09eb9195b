import { randomUUID } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { CommitInvalidError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { connect, createTable } from "../kit/tables.ts";

describe.each(inject("everyDynamodbEngine"))("DynamoDBStore's commits on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let orders: string;
  let tableName: string;
  let store: DynamoDBStore;

  beforeAll(async () => {
    [tableName, orders] = await Promise.all([createTable(client), createTable(client, "id")]);
    store = new DynamoDBStore({ tableName, client });
  });

  const run = (work: (execution: Execution<DynamoDBWrite>) => unknown) =>
    runOnce({ operation: "op", store, leaseSeconds: 30 }, randomUUID(), {}, work);

  const insert = (item: { id: string }): DynamoDBWrite => ({
    Put: {
      TableName: orders,
      Item: item,
      ConditionExpression: "attribute_not_exists(id)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    },
  });

  it("applies all four actions with the record", async () => {
    const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
    await run((execution) => execution.commit(1, { writes: [insert({ id: b }), insert({ id: c })] }));
    const Key = { id: b };
    const values = {
      ExpressionAttributeNames: { "#total": "total" },
      ExpressionAttributeValues: { ":total": 1.5 },
    };

    await run((execution) =>
      execution.commit(2, {
        writes: [
          insert({ id: a }),
          { Update: { TableName: orders, Key, UpdateExpression: "SET #total = :total", ...values } },
          { Delete: { TableName: orders, Key: { id: c } } },
          {
            ConditionCheck: {
              TableName: orders,
              Key: { id: "none" },
              ConditionExpression: "attribute_not_exists(id)",
            },
          },
        ],
      }),
    );

    const found = await Promise.all(
      [a, b, c].map(async (id) => {
        const { Item } = await client.send(new GetItemCommand({ TableName: orders, Key: marshall({ id }) }));
        return Item && unmarshall(Item);
      }),
    );
    expect(found).toEqual([{ id: a }, { id: b, total: 1.5 }, undefined]);
  });

  it("reports which write was refused and the existing item; then the handler commits something else", async () => {
    const taken = { id: randomUUID(), customer: "somebody" };
    await run((execution) => execution.commit(1, { writes: [insert(taken)] }));

    const answer = await run(async (execution) => {
      const first = execution.commit("created", {
        writes: [insert({ id: randomUUID() }), insert({ id: taken.id })],
      });
      await expect(first).rejects.toMatchObject({ code: "TRANSACTION_CONDITION", index: 1, item: taken });
      return execution.commit("taken");
    });

    expect(answer).toBe("taken");
  });

  it("rejects bad writes before any request, and the handler may correct them", async () => {
    const answer = await run(async (execution) => {
      const bad = [{ Put: { TableName: undefined, Item: {} } }];
      expect(() => execution.commit("bad", { writes: bad })).toThrow(CommitInvalidError);
      const own = { TableName: tableName, Key: { pk: `op##${execution.key}` } };
      await expect(execution.commit("good", { writes: [{ Delete: own }] })).resolves.toBe("good");
      return "good";
    });

    expect(answer).toBe("good");
  });
});
