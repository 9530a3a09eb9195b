// DynamoDB forgets a request token after 10 minutes; a commit that is sent again later meets its own conditions.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { fakeClock } from "onceonly/testing";
import { beforeEach, describe, expect, it } from "vitest";
import type { Settlement } from "../../lib/core/store.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { DynamoDBModel } from "../../packages/explorer/lib/aws/dynamodb/dynamodb-model.ts";
import { createTable } from "../kit/tables.ts";
import { claimOf, NOW } from "./given.ts";

const MINUTE = 60_000;

describe("DynamoDBStore, when a commit is sent again", () => {
  const clock = fakeClock(NOW);
  const client = new DynamoDBClient(new DynamoDBModel({ clock }).clientConfig());
  let store: DynamoDBStore;
  let tableName: string;
  let counters: string;

  beforeEach(async () => {
    [tableName, counters] = [await createTable(client), await createTable(client)];
    store = new DynamoDBStore({ tableName, client });
  });

  /** Has no condition of its own: only the record's condition stands before a second application. */
  const countUp = (): DynamoDBWrite => ({
    Update: {
      TableName: counters,
      Key: { pk: "count" },
      UpdateExpression: "ADD applied :one",
      ExpressionAttributeValues: { ":one": 1 },
    },
  });

  async function applied(): Promise<number> {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: counters, Key: { pk: { S: "count" } } }),
    );
    return Number(Item?.applied?.N ?? 0);
  }

  function commit(): Settlement<DynamoDBWrite> {
    const { recordKey, token, expiresAt } = claimOf("mine");
    const finish = { state: "completed", result: '"done"', writes: [countUp()], messages: [] } as const;
    return { recordKey, token, now: clock.now(), expiresAt, ...finish };
  }

  it.each([1, 9, 11, 60 * 24])(
    "H10: of a claim, %i minutes later, it counts as settled and applies nothing again",
    async (minutes) => {
      const settlement = commit();
      const { recordKey, now } = settlement;
      await store.claim(claimOf("mine", { recordKey, leaseEndsAt: now + MINUTE }));
      await store.settle(settlement);
      await clock.advance(minutes * MINUTE);

      expect(await store.settle(settlement)).toEqual({ settled: true });
      expect(await applied()).toBe(1);
    },
  );

  it.each([1, 9, 11, 60 * 24])(
    "H10: without a claim, %i minutes later, it counts as settled and applies nothing again",
    async (minutes) => {
      const insertion = { ...claimOf("mine"), ...commit(), state: "completed" } as const;
      const expiresAt = Number(insertion.expiresAt) + 60 * 60 * 24 * 2;
      const insert = () => store.insert({ ...insertion, expiresAt });
      await insert();
      await clock.advance(minutes * MINUTE);

      expect(await insert()).toEqual({ settled: true });
      expect(await applied()).toBe(1);
    },
  );
});
