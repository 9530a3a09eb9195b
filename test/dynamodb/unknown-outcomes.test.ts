// Unknown outcomes on real engines: what is in the index, what that costs, and how they are found.
import { randomUUID } from "node:crypto";
import { GetItemCommand, ScanCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { LeanDynamoDB, DynamoDBStore as LeanStore } from "onceonly/lean";
import { fakeClock } from "onceonly/testing";
import { describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import type { EngineOptions } from "../../lib/core/options.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { UnknownOutcome } from "../../lib/core/unknown-outcome.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { countRequests } from "../kit/counting-client.ts";
import { connect, createOutboxTable, createTable } from "../kit/tables.ts";

type WhenAbandoned = EngineOptions["whenAbandoned"];

describe.each(inject("dynamodbEngines"))("unknown outcomes on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  const clock = fakeClock(Date.now());

  const optionsOf = (tableName: string, whenAbandoned: WhenAbandoned) => ({
    operation: "charge",
    store: new DynamoDBStore({ tableName, client }),
    leaseSeconds: 30,
    renewLease: false,
    clock,
    whenAbandoned,
  });

  async function dies(options: ReturnType<typeof optionsOf>, key: string = randomUUID()) {
    await new Promise<void>((claimed) => {
      void runOnce(options, key, {}, () => {
        claimed();
        return new Promise(() => {});
      });
    });
    return identify("charge", "", key).recordKey;
  }

  async function listed(store: Pick<DynamoDBStore, "unknownOutcomes">) {
    const outcomes: UnknownOutcome[] = [];
    for await (const outcome of store.unknownOutcomes({ before: clock.now() })) outcomes.push(outcome);
    return outcomes;
  }

  const indexed = async (TableName: string) =>
    (await client.send(new ScanCommand({ TableName, IndexName: "unsettled" }))).Items?.length;

  it("H6: 60 abandoned keys are found whatever the traffic, page by page, by every client of a store", async () => {
    const tableName = await createOutboxTable(client);
    const options = optionsOf(tableName, "hold");
    const dead: string[] = [];
    for (let index = 0; index < 60; index++) dead.push(await dies(options));
    for (let index = 0; index < 5; index++) await runOnce(options, randomUUID(), {}, () => "ran");
    await clock.advance(36_000);
    const credentials = { accessKeyId: "local", secretAccessKey: "local" };
    const lean = new LeanDynamoDB({ endpoint, region: "eu-central-1", credentials });

    for (const store of [
      options.store,
      new DynamoDBStore({ tableName, client }),
      new LeanStore({ tableName, client: lean }),
    ]) {
      const outcomes = await listed(store);
      expect(outcomes.map(({ recordKey }) => recordKey).toSorted()).toEqual(dead.toSorted());
      expect(new Set(outcomes.map(({ state }) => state))).toEqual(new Set(["abandoned"]));
    }
    expect(await indexed(tableName)).toBe(60);
  });

  it("H6: a completion, a release and a final error leave the index; a hold stays in it", async () => {
    const tableName = await createOutboxTable(client);
    const options = optionsOf(tableName, "hold");
    await runOnce(options, randomUUID(), {}, () => "ran");
    const fails = () => Promise.reject(new Error("again"));
    await expect(runOnce(options, randomUUID(), {}, fails)).rejects.toThrow("again");
    const final = { ...options, isFinalError: () => true };
    await expect(runOnce(final, randomUUID(), {}, fails)).rejects.toThrow("again");
    expect(await indexed(tableName)).toBe(0);

    const key = randomUUID();
    await dies(options, key);
    await clock.advance(36_000);
    await expect(runOnce(options, key, {}, () => "ran")).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    const heldAt = clock.now();
    await clock.advance(1000);

    expect(await listed(options.store)).toEqual([
      {
        recordKey: identify("charge", "", key).recordKey,
        state: "held",
        since: heldAt,
        attempt: 2,
        evidence: { verdict: "unknown", by: "hold", at: heldAt, attempt: 1 },
      },
    ]);
  });

  it('H6: with "run" no record has an attribute of the index, and none is in it', async () => {
    const tableName = await createOutboxTable(client);
    const recordKey = await dies(optionsOf(tableName, "run"));
    const Key = { pk: { S: recordKey } };

    const { Item } = await client.send(new GetItemCommand({ TableName: tableName, Key }));

    expect(Object.keys(Item ?? {}).filter((name) => name.startsWith("unsettled"))).toEqual([]);
    expect(await indexed(tableName)).toBe(0);
  });

  it("H6: one damaged record hides no other", async () => {
    const tableName = await createOutboxTable(client);
    const options = optionsOf(tableName, "hold");
    const [damaged, sound] = [await dies(options), await dies(options)];
    await clock.advance(36_000);
    await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: { pk: { S: damaged } },
        UpdateExpression: "REMOVE #token",
        ExpressionAttributeNames: { "#token": "token" },
      }),
    );

    const outcomes = await listed(options.store);

    expect(Object.fromEntries(outcomes.map(({ recordKey, state }) => [recordKey, state]))).toEqual({
      [damaged]: "unreadable",
      [sound]: "abandoned",
    });
  });

  it("holds on a table without the index, and names the index that the list needs", async () => {
    const tableName = await createTable(client);
    const options = optionsOf(tableName, "hold");
    const key = randomUUID();
    await dies(options, key);
    await clock.advance(36_000);
    await expect(runOnce(options, key, {}, () => "ran")).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });

    await expect(listed(options.store)).rejects.toThrow(
      `the table ${tableName} must have the key pk, and the index unsettled of the numbers unsettledShard and unsettledSince`,
    );
  });
});

describe.each(inject("everyDynamodbEngine"))("the price of the index on $name", ({ endpoint }) => {
  it.each([
    ["run", 2, 2],
    ["hold", 2, 4],
  ] as const)(
    'a first run with "%s" costs %i requests and %i write units',
    async (whenAbandoned, requests, units) => {
      const client = connect(endpoint);
      const tableName = await createOutboxTable(client);
      const counts = countRequests(client);
      const store = new DynamoDBStore({ tableName, client });
      const options = { operation: "charge", store, leaseSeconds: 30, whenAbandoned };
      counts.reset();

      await runOnce(options, randomUUID(), {}, () => ({ charge: "ch_1" }));

      expect([counts.requests, counts.writeUnits, counts.readUnits]).toEqual([requests, units, 0]);
    },
  );
});
