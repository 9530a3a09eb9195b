import { randomUUID } from "node:crypto";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { beforeAll, describe, expect, inject, it } from "vitest";
import type { Decision, DecisionEvent } from "../../lib/core/decisions.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { aroundRequests } from "../kit/faults/around-requests.ts";
import { clientError, failWith } from "../kit/faults/faulty-client.ts";
import { connect, createTable } from "../kit/tables.ts";
import { claimOf, NOW } from "./given.ts";

/** Every input that is sent, with the name of its command. */
function recordInputs(client: DynamoDBClient): { command: string; input: Record<string, unknown> }[] {
  const inputs: { command: string; input: Record<string, unknown> }[] = [];
  aroundRequests(client, ({ command, input, send }) => {
    inputs.push({ command, input: { ...input } });
    return send();
  });
  return inputs;
}

describe.each(inject("everyDynamodbEngine"))("DynamoDBStore on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let tableName: string;
  let orders: string;
  let store: DynamoDBStore;

  beforeAll(async () => {
    [tableName, orders] = await Promise.all([createTable(client), createTable(client, "id")]);
    store = new DynamoDBStore({ tableName, client });
  });

  const order = (id: string): DynamoDBWrite => ({ Put: { TableName: orders, Item: { id } } });

  it("H12: a claim that meets a transaction under way answers with the record, and wins if there is none", async () => {
    const claim = claimOf("first");
    const conflict = clientError("TransactionConflictException");
    await store.claim(claim);

    failWith(client, conflict);
    const refused = await store.claim({ ...claim, token: "second" });
    expect(refused).toMatchObject({ won: false, record: { token: "first", state: "in-progress" } });

    failWith(client, conflict);
    const options = { operation: "op", store, leaseSeconds: 30 };
    expect(await runOnce(options, randomUUID(), {}, () => "ran")).toBe("ran");
  });

  it("H13: runs once while claims are throttled if the options say so, and reports it", async () => {
    const decisions: string[] = [];
    const options = {
      operation: "op",
      store,
      leaseSeconds: 30,
      whenStoreFails: "run",
      observe: ({ decision }: { decision: string }) => decisions.push(decision),
    } as const;
    const key = randomUUID();
    failWith(client, clientError("ThrottlingException"));

    expect(await runOnce(options, key, {}, () => "ran")).toBe("ran");

    expect(decisions).toContain("ran-unprotected");
    expect(await runOnce(options, key, {}, () => expect.unreachable())).toBe("ran");
  });

  it("H14: decides by conditions that carry the record and by consistent reads, never by an index", async () => {
    const own = connect(endpoint);
    const inputs = recordInputs(own);
    const watched = new DynamoDBStore({ tableName, client: own });
    const options = { operation: "op", store: watched, leaseSeconds: 30 };
    const call = (mode: "claimed" | "optimistic", key: string) =>
      runOnce({ ...options, mode, lookFirst: false }, key, {}, (execution) =>
        execution.commit("done", { writes: [order(key)] }),
      );

    for (const mode of ["claimed", "optimistic"] as const) {
      const key = randomUUID();
      await Promise.all([1, 2, 3].map(() => call(mode, key).catch(() => {})));
      await call(mode, key);
    }
    await watched.find("any", { consistent: true });

    const writes = inputs.flatMap(({ command, input }) => {
      if (command === "TransactWriteItems")
        return [Object.values((input.TransactItems as object[])[0] ?? {})[0]];
      return command === "GetItem" ? [] : [input];
    });
    expect(new Set(inputs.map(({ command }) => command))).toEqual(
      new Set(["PutItem", "TransactWriteItems", "GetItem"]),
    );
    for (const write of writes)
      expect(write).toMatchObject({
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
        ConditionExpression: /./,
      });
    for (const { command, input } of inputs) {
      expect(input).not.toHaveProperty("IndexName");
      if (command === "GetItem") expect(input.ConsistentRead).toBe(true);
    }
  });

  it("H19: keeps the same key apart in two operations and two tenants, under the prefix of each", async () => {
    const inputs = recordInputs(client);
    const key = randomUUID();
    const scopes = ["tenant-1", "tenant-2"];

    for (const operation of ["create", "cancel"])
      for (const scope of scopes) {
        const options = { operation, scope, store, leaseSeconds: 30 };
        expect(await runOnce(options, key, {}, () => `${operation} by ${scope}`)).toBe(
          `${operation} by ${scope}`,
        );
      }

    const keys = new Set(
      inputs.map(({ input }) => unmarshall((input.Key ?? input.Item) as never).pk as string),
    );
    expect([...keys].map((pk) => pk.split("#").slice(0, 2).join())).toEqual([
      "create,tenant-1",
      "create,tenant-2",
      "cancel,tenant-1",
      "cancel,tenant-2",
    ]);
  });

  it("H20: parts that hold the separator never meet in one record", async () => {
    const calls = [
      ["a#b", "c"],
      ["a", "b#c"],
      ["a%23b", "c"],
    ] as const;
    const key = randomUUID();

    for (const [operation, scope] of calls) {
      const options = { operation, scope, store, leaseSeconds: 30 };
      expect(await runOnce(options, key, {}, () => operation + scope)).toBe(operation + scope);
    }
  });

  it("H5: does not call it a take-over when an expired record in progress is reset", async () => {
    const decisions: Decision[] = [];
    const time = { now: NOW };
    const clock = { now: () => time.now, sleep: () => new Promise<void>(() => {}) };
    const observe = ({ decision }: DecisionEvent) => decisions.push(decision);
    const options = { operation: "op", store, leaseSeconds: 30, retentionSeconds: 60, clock, observe };
    const key = randomUUID();
    const crash = () =>
      new Promise<void>((started) => {
        void runOnce(options, key, {}, () => new Promise(() => started()));
      });

    await crash();
    time.now += 35_001;
    await crash();
    time.now += 300_000;
    expect(await runOnce(options, key, {}, ({ attempt }) => attempt)).toBe(3);

    // The time of the test is not the engine's.
    const reported = decisions.filter((decision) => decision !== "clock-skewed");
    expect(reported).toEqual(["taken-over", "key-expired", "executed"]);
  });

  it.each([false, true])(
    "H4: reports the database's own time with each claim (cacheMiddleware: %s)",
    async (cacheMiddleware) => {
      const own = connect(endpoint, { cacheMiddleware });
      const watched = new DynamoDBStore({ tableName, client: own });

      for (const token of ["first", "second", "third"]) {
        const before = Math.floor(Date.now() / 1000) * 1000;
        const answer = await watched.claim(claimOf(token));

        const { serverTimeMs } = answer as { serverTimeMs?: number };
        expect(serverTimeMs).toBeGreaterThanOrEqual(before);
        expect(serverTimeMs).toBeLessThanOrEqual(Date.now());
      }
    },
  );
});
