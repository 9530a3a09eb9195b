// Steps on real engines: what they cost, where large results go, and what a retry finds after a crash.
import { randomBytes, randomUUID } from "node:crypto";
import { GetItemCommand, type PutItemCommandInput, ScanCommand } from "@aws-sdk/client-dynamodb";
import { fakeClock } from "onceonly/testing";
import { describe, expect, inject, it } from "vitest";
import type { Execution } from "../../lib/core/execution.ts";
import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { countRequests, itemSize } from "../kit/counting-client.ts";
import { connect, createOutboxTable } from "../kit/tables.ts";
import { claimOf, NOW } from "./given.ts";

type Run = Execution<DynamoDBWrite>;

describe.each(inject("dynamodbEngines"))("steps on $name", ({ endpoint }) => {
  async function given() {
    const client = connect(endpoint);
    const tableName = await createOutboxTable(client);
    const clock = fakeClock(Date.now());
    const store = new DynamoDBStore({ tableName, client });
    const options = { operation: "order", store, leaseSeconds: 30, renewLease: false, clock };
    const items = async () => (await client.send(new ScanCommand({ TableName: tableName }))).Items ?? [];
    return { client, tableName, clock, options, items };
  }

  it("costs one request a step, one more at most once, and nothing is left of them", async () => {
    const { client, options, items } = await given();
    const counts = countRequests(client);

    await runOnce(options, randomUUID(), {}, async ({ step }) => {
      await step("reserve", () => ({ id: "r_1" }));
      await step("mail <b>", () => undefined);
      await step("charge", () => ({ id: "ch_1" }), { atMostOnce: true });
      return "done";
    });

    expect(counts.commands).toEqual([
      "PutItem",
      "UpdateItem",
      "UpdateItem",
      "UpdateItem",
      "UpdateItem",
      "UpdateItem",
    ]);
    const [record, ...others] = await items();
    expect(others).toEqual([]);
    expect(record).toMatchObject({ state: { S: "completed" } });
    for (const name of ["steps", "unsettledShard", "unsettledSince"]) expect(record).not.toHaveProperty(name);
    expect(record).toHaveProperty("expiresAt");
  });

  it("a plain run sends nothing about steps to the database", async () => {
    const { client, options } = await given();
    const inputs: unknown[] = [];
    client.middlewareStack.add(
      (next) => (args) => {
        inputs.push(args.input as PutItemCommandInput);
        return next(args);
      },
      { step: "initialize" },
    );

    await runOnce(options, randomUUID(), {}, () => "done");

    expect(JSON.stringify(inputs)).not.toContain("steps");
  });

  it("H60: a retry after a crash skips completed steps, with their large results, and continues", async () => {
    const { clock, options, items } = await given();
    const key = randomUUID();
    const large = randomBytes(9000).toString("base64");
    const runs: string[] = [];
    const handler =
      (dies: boolean) =>
      async ({ step }: Run) => {
        const loaded = await step("load", () => {
          runs.push("load");
          return large;
        });
        const order = await step("order", () => {
          runs.push("order");
          return { id: 1 };
        });
        if (dies) await new Promise(() => {});
        return [loaded === large, order];
      };
    void runOnce(options, key, {}, handler(true));
    while (runs.length < 2 || (await items()).length < 2)
      await new Promise((resolve) => setImmediate(resolve));
    const stepsOf = async () => (await items()).find(({ steps }) => steps)?.steps?.M ?? {};
    while (Object.keys(await stepsOf()).length < 2) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(36_000);

    expect(await runOnce(options, key, {}, handler(false))).toEqual([true, { id: 1 }]);

    expect(runs).toEqual(["load", "order"]);
  });

  it("a step's commit is one transaction with its writes, and a refused condition writes neither", async () => {
    const { client, tableName, options } = await given();
    const counts = countRequests(client);
    const put = (id: string): DynamoDBWrite => ({
      Put: { TableName: tableName, Item: { pk: id }, ConditionExpression: "attribute_not_exists(pk)" },
    });

    const result = await runOnce(options, randomUUID(), {}, async ({ step }) => {
      const first = await step("first", (own) => own.commit("first", { writes: [put("order-1")] }));
      const second = await step("second", async (own) => {
        try {
          return await own.commit("second", { writes: [put("order-1"), put("order-2")] });
        } catch (error) {
          expect(error).toMatchObject({ code: "TRANSACTION_CONDITION", index: 0 });
          return own.commit("there", { writes: [] });
        }
      });
      return [first, second];
    });

    expect(result).toEqual(["first", "there"]);
    expect(counts.commands).toEqual([
      "PutItem",
      "TransactWriteItems",
      "TransactWriteItems",
      "UpdateItem",
      "UpdateItem",
    ]);
    const input = { TableName: tableName, Key: { pk: { S: "order-2" } } };
    expect((await client.send(new GetItemCommand(input))).Item).toBeUndefined();
  });

  it("twenty steps side by side are all on record", async () => {
    const { options } = await given();
    const key = randomUUID();
    const names = Array.from({ length: 20 }, (_, index) => `part-${index}`);
    let runs = 0;
    const all = async ({ step }: Run) =>
      Promise.all(
        names.map((name) =>
          step(name, () => {
            runs++;
            return name;
          }),
        ),
      );
    const failsThen = async (execution: Run) => {
      await all(execution);
      throw new Error("again");
    };
    await expect(runOnce(options, key, {}, failsThen)).rejects.toThrow("again");

    expect(await runOnce(options, key, {}, all)).toEqual(names);
    expect(runs).toBe(20);
  });

  it.each([
    ["the longest key, and results in items of their own", ["語".repeat(64), "語".repeat(256)], 5000],
    ["a short key, and the largest results that stay in the record", ["op", "t"], 1160],
  ] as const)(
    "H15: 100 steps with the longest names have room in their item, with %s",
    async (_, names, bytes) => {
      const { options, items } = await given();
      const { recordKey } = identify(names[0], names[1], "key");
      const { store } = options;
      await store.claim(claimOf("token", { recordKey }));

      for (let index = 0; index < 100; index++) {
        const name = `${index}`.padStart(64, "語");
        const answer = await store.writeStep({
          ...{ recordKey, token: "token", name, isFirst: index === 0, writes: [] },
          ...{ leaseEndsAt: NOW + 30_000, resultExpiresAt: NOW },
          step: { state: "done", attempt: 1, at: NOW + index, tracked: true, next: name },
          result: JSON.stringify(randomBytes(bytes).toString("base64")),
        });
        expect(answer).toEqual({ settled: true, lostBytes: undefined });
      }

      const all = await items();
      const { stepItems, ...record } = all.find(({ state }) => state) ?? {};
      const addresses = stepItems?.SS ?? [];
      expect([all.length, addresses.length]).toEqual(bytes > 2000 ? [101, 100] : [1, 0]);
      const size =
        itemSize(record as never) + addresses.reduce((sum, each) => sum + Buffer.byteLength(each), 0);
      expect([size > 150_000, size < 300_000, size]).toEqual([true, true, size]);
    },
  );

  it("H42: a step at most once that was interrupted is listed, and held", async () => {
    const { clock, options } = await given();
    const key = randomUUID();
    const work = (wait: () => Promise<unknown>) => (execution: Run) =>
      execution.step("charge", wait, { atMostOnce: true });
    await new Promise<void>((begun) => {
      const dies = () => {
        begun();
        return new Promise(() => {});
      };
      void runOnce(options, key, {}, work(dies));
    });
    await clock.advance(36_000);
    const listed = async () => {
      const outcomes: unknown[] = [];
      for await (const outcome of options.store.unknownOutcomes({ before: clock.now() }))
        outcomes.push(outcome);
      return outcomes;
    };

    expect(await listed()).toMatchObject([{ state: "abandoned", attempt: 1, steps: ["charge"] }]);
    const again = runOnce(
      options,
      key,
      {},
      work(() => Promise.reject(new Error("must not run"))),
    );
    await expect(again).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await clock.advance(1);

    expect(await listed()).toMatchObject([
      { state: "held", attempt: 2, steps: ["charge"], evidence: { by: "step", step: "charge" } },
    ]);
  });
});
