import { randomUUID } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { clientError, failWith } from "../kit/faults/faulty-client.ts";
import { connect, createTable } from "../kit/tables.ts";
import { claimOf, NOW } from "./given.ts";

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

  const readOrder = async (id: string) =>
    (await client.send(new GetItemCommand({ TableName: orders, Key: marshall({ id }) }))).Item;

  /** Two workers of one key: the first is silent until its lease is over, and the second takes over. */
  const zombieAndWinner = async () => {
    const zombie = claimOf("zombie");
    const later = NOW + 31_000;
    const winner = { ...zombie, token: "winner", attempt: 2, leaseEndsAt: later + 30_000 };
    expect(await store.claim(zombie)).toMatchObject({ won: true });
    const seen = await store.find(zombie.recordKey, { consistent: true });
    expect(await store.claim(winner, seen)).toMatchObject({ won: true });
    const finish = {
      recordKey: zombie.recordKey,
      now: later,
      expiresAt: zombie.expiresAt,
      writes: [],
      messages: [],
    };
    return {
      zombie: { ...finish, token: "zombie", result: '"zombie"' },
      winner: { ...finish, token: "winner", result: '"winner"' },
    };
  };

  it("H1: a worker whose claim was taken over completes nothing, before and after the winner", async () => {
    const { zombie, winner } = await zombieAndWinner();
    const writes = [order(zombie.recordKey)];

    const early = await store.settle({ ...zombie, state: "completed", writes, messages: [] });
    expect(early).toMatchObject({ settled: false, record: { token: "winner", state: "in-progress" } });
    await store.settle({ ...winner, state: "completed" });
    const late = await store.settle({ ...zombie, state: "completed", writes, messages: [] });

    expect(late).toMatchObject({
      settled: false,
      record: { token: "winner", state: "completed", result: { in: "record", text: '"winner"' } },
    });
    expect(await readOrder(zombie.recordKey)).toBeUndefined();
  });

  it("H2: a worker that fails late takes nothing from the winner, and a third call replays", async () => {
    const { zombie, winner } = await zombieAndWinner();
    await store.settle({ ...winner, state: "completed" });

    for (const state of ["failed", "released", "held"] as const)
      expect(await store.settle({ ...zombie, state })).toMatchObject({ settled: false });

    const third = await store.claim(claimOf("third", { recordKey: zombie.recordKey }));
    expect(third).toMatchObject({ won: false, record: { state: "completed", token: "winner" } });
  });

  it("H5: a record that TTL has not deleted yet neither blocks nor replays once it is expired", async () => {
    const key = randomUUID();
    const time = { now: NOW };
    const clock = { now: () => time.now, sleep: () => new Promise<void>(() => {}) };
    const options = { operation: "op", store, leaseSeconds: 30, retentionSeconds: 60, clock };
    let runs = 0;
    const call = () => runOnce(options, key, {}, () => ++runs);

    expect([await call(), await call()]).toEqual([1, 1]);
    time.now += 60_000;
    expect([await call(), await call()]).toEqual([2, 2]);
    expect((await store.find(identify("op", "", key).recordKey, { consistent: true }))?.attempt).toBe(2);
  });

  it("H5: an expired record that its slow worker finished in between is not reset, and its result counts", async () => {
    const slow = claimOf("slow");
    const later = slow.expiresAt * 1000;
    const claim = {
      ...slow,
      token: "next",
      attempt: 2,
      leaseEndsAt: later + 30_000,
      expiresAt: later / 1000 + 60,
    };
    const insertion = {
      ...claim,
      now: later,
      state: "completed",
      result: '"next"',
      writes: [],
      messages: [],
    } as const;
    await store.claim(slow);
    const expired = await store.find(slow.recordKey, { consistent: true });
    await store.settle({
      ...slow,
      now: later,
      state: "completed",
      expiresAt: claim.expiresAt,
      writes: [],
      messages: [],
    });

    expect(await store.claim(claim, expired)).toMatchObject({ won: false, record: { state: "completed" } });
    expect(await store.insert(insertion, expired)).toMatchObject({
      settled: false,
      record: { token: "slow" },
    });
  });

  it("H5: an expired record that was replaced in between is not mistaken for the one that was seen", async () => {
    const first = claimOf("first");
    const at = (token: string, seconds: number) => ({
      ...first,
      token,
      attempt: 2,
      expiresAt: seconds + 60,
    });
    await store.claim(first);
    const seen = await store.find(first.recordKey, { consistent: true });
    await store.claim(at("second", first.expiresAt), seen);

    const answer = await store.claim(at("third", first.expiresAt + 60), seen);

    expect(answer).toMatchObject({ won: false, record: { token: "second", attempt: 2 } });
  });

  it("H7: a completion that is refused by the network for long is settled by the request that gets through", async () => {
    const claim = claimOf("mine");
    await store.claim(claim);
    const settlement = {
      ...claim,
      now: NOW,
      state: "completed",
      result: '"done"',
      writes: [],
      messages: [],
    } as const;
    failWith(client, ...Array.from({ length: 5 }, () => clientError("InternalServerError", {}, 500)));

    for (let tries = 0; tries < 5; tries++)
      await expect(store.settle(settlement)).rejects.toMatchObject({ failure: "unreachable" });

    expect(await store.settle(settlement)).toEqual({ settled: true });
  });
});
