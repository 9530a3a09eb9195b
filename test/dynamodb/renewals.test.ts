// A lease that is renewed on the real engine: one request each third of it, and late copies that change nothing.
import { randomUUID } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, expect, inject, it } from "vitest";
import type { Clock } from "../../lib/core/clock.ts";
import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { countRequests, itemSize } from "../kit/counting-client.ts";
import { connect, createTable } from "../kit/tables.ts";
import { gate } from "../kit/time/gate.ts";
import { claimOf, NOW } from "./given.ts";

/** Time that a test leaps. A sleeper looks at the time again after each leap. */
function leapingClock() {
  let now = NOW;
  const sleepers = new Set<() => void>();
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const until = now + ms;
        const wake = () => {
          if (!signal?.aborted && now < until) return;
          sleepers.delete(wake);
          resolve();
        };
        sleepers.add(wake);
        signal?.addEventListener("abort", wake);
      }),
  };
  const leap = (ms: number) => {
    now += ms;
    for (const wake of [...sleepers]) wake();
  };
  return { clock, leap, sleepers };
}

describe.each(inject("dynamodbEngines"))("a renewed lease on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let tableName: string;
  let store: DynamoDBStore;
  let counts: ReturnType<typeof countRequests>;

  beforeAll(async () => {
    tableName = await createTable(client);
    counts = countRequests(client);
    store = new DynamoDBStore({ tableName, client });
  });

  const found = async (recordKey: string) => (await store.find(recordKey, { consistent: true }))!;
  const sizeOf = async (recordKey: string) =>
    itemSize(
      (await client.send(new GetItemCommand({ TableName: tableName, Key: { pk: { S: recordKey } } }))).Item!,
    );

  it("H64: a renewal is one request and one write unit, and adds no byte to the record", async () => {
    const claim = claimOf(randomUUID());
    await store.claim(claim);
    const before = await sizeOf(claim.recordKey);
    counts.reset();

    const { recordKey, token, leaseEndsAt, expiresAt } = claim;
    const renewal = { recordKey, token, leaseEndsAt: leaseEndsAt + 10_000, expiresAt: expiresAt + 10 };
    expect(await store.renew(renewal)).toEqual({ renewed: true });

    expect([counts.requests, counts.writeUnits, counts.readUnits]).toEqual([1, 1, 0]);
    expect(await sizeOf(recordKey)).toBe(before);
  });

  it("H61: work that is longer than its lease keeps its key, one request each third; its late renewal changes nothing", async () => {
    const { clock, leap, sleepers } = leapingClock();
    const { opened, open } = gate();
    const begun = gate();
    const options = { operation: "renewed", store, leaseSeconds: 30, clock };
    const key = randomUUID();
    const { recordKey } = identify(options.operation, "", key);
    counts.reset();
    const call = runOnce(options, key, {}, async ({ signal }) => {
      begun.open(undefined);
      await opened;
      return { aborted: signal.aborted };
    });
    await begun.opened;

    for (let third = 1; third <= 6; third++) {
      leap(10_000);
      const leaseEndsAt = NOW + third * 10_000 + 35_000;
      while ((await found(recordKey)).leaseEndsAt !== leaseEndsAt);
    }
    const { token, leaseEndsAt, expiresAt = 0 } = await found(recordKey);
    await expect(runOnce(options, key, {}, () => "never")).rejects.toMatchObject({
      code: "EXECUTION_IN_PROGRESS",
    });
    open(undefined);

    expect(await call).toEqual({ aborted: false });
    expect(counts.writeUnits).toBe(1 + 6 + 1 + 1);
    expect(sleepers.size).toBe(0);
    const before = await found(recordKey);
    const late = await store.renew({ recordKey, token, leaseEndsAt: leaseEndsAt + 1, expiresAt });
    expect(late).toMatchObject({ renewed: false, record: { state: "completed", token } });
    expect(await found(recordKey)).toEqual(before);
  });

  it("H61: a worker that stood still while another took over aborts on waking, and its completion is fenced", async () => {
    const { clock, leap, sleepers } = leapingClock();
    const [frozen, begun] = [gate(), gate()];
    const options = { operation: "frozen", store, leaseSeconds: 30, clock };
    const key = randomUUID();
    let reason: unknown;
    const first = runOnce(options, key, {}, async ({ signal }) => {
      signal.addEventListener("abort", () => {
        reason = signal.reason;
      });
      begun.open(undefined);
      await frozen.opened;
      return "frozen";
    });
    await begun.opened;
    const others = { ...options, clock: { now: () => NOW + 3_600_000, sleep: clock.sleep } };
    expect(await runOnce(others, key, {}, ({ attempt }) => attempt)).toBe(2);

    leap(3_600_000);
    await new Promise((resolve) => setImmediate(resolve));

    expect(reason).toMatchObject({ code: "CLAIM_LOST" });
    frozen.open(undefined);
    expect(await first).toBe(2);
    expect(sleepers.size).toBe(0);
  });
});
