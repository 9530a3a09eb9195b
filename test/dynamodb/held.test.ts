// Held keys on real engines: what is stored, what it costs, and who gets what.
import { randomUUID } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { runOnce } from "onceonly";
import { fakeClock } from "onceonly/testing";
import { describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import type { EngineOptions } from "../../lib/core/options.ts";
import { resolveOutcome } from "../../lib/core/resolve-outcome.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { intercepted, type StoreMethod } from "../kit/faults/faulty-store.ts";
import { connect, createTable } from "../kit/tables.ts";

describe.each(inject("dynamodbEngines"))("DynamoDBStore on $name, of unknown outcomes", ({ endpoint }) => {
  const client = connect(endpoint);

  /** The holder of the key died, and its lease has ended. */
  async function died(whenAbandoned: EngineOptions["whenAbandoned"]) {
    const tableName = await createTable(client);
    const requests: StoreMethod[] = [];
    const store = intercepted(new DynamoDBStore({ tableName, client }), (method, request) => {
      requests.push(method);
      return request();
    });
    const clock = fakeClock(Date.now());
    const key = randomUUID();
    const options = { operation: "charge", store, leaseSeconds: 30, renewLease: false, clock, whenAbandoned };
    const { recordKey } = identify("charge", "", key);
    await new Promise<void>((claimed) => {
      void runOnce(options, key, {}, () => {
        claimed();
        return new Promise(() => {});
      });
    });
    await clock.advance(36_000);
    requests.length = 0;
    const item = async () => {
      const read = new GetItemCommand({
        TableName: tableName,
        Key: { pk: { S: recordKey } },
        ConsistentRead: true,
      });
      return unmarshall((await client.send(read)).Item ?? {});
    };
    return { options, requests, item, key, call: () => runOnce(options, key, {}, () => "ran") };
  }

  it('H6: a claim that may be held has no expiry, nor has a held record; "run" has one, as before', async () => {
    const [hold, run] = [await died("hold"), await died("run")];

    expect(await hold.item()).not.toHaveProperty("expiresAt");
    expect(await run.item()).toHaveProperty("expiresAt");
    await expect(hold.call()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });

    expect(await hold.item()).toMatchObject({ state: "held", attempt: 2, evidence: expect.any(String) });
    expect(await hold.item()).not.toHaveProperty("expiresAt");
    expect(await run.call()).toBe("ran");
    expect(await run.item()).not.toHaveProperty("evidence");
  });

  it("H42: holds with one write in addition to the claim, and refuses with only the claim", async () => {
    const { call, requests } = await died("hold");

    await expect(call()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await expect(call()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });

    expect(requests).toEqual(["claim", "claim", "settle", "claim"]);
  });

  it("H42: completes an attempt that happened with a large result, which every caller gets", async () => {
    const result = { text: "ä".repeat(200_000) };
    const { call, item } = await died(async () => ({
      outcome: "happened",
      result,
      evidence: { asked: "GET" },
    }));

    expect(await call()).toEqual(result);
    expect(await call()).toEqual(result);
    const { state, evidence, expiresAt } = await item();
    expect([state, JSON.parse(evidence as string)]).toEqual([
      "completed",
      expect.objectContaining({ verdict: "happened", by: "verify", attempt: 1, asked: "GET" }),
    ]);
    expect(expiresAt).toBeGreaterThan(0);
  });

  it("H42: runs an attempt that did not happen, and stores the evidence with its end", async () => {
    const { call, item } = await died(async () => ({ outcome: "did-not-happen" }));

    expect(await call()).toBe("ran");
    expect(JSON.parse((await item()).evidence as string)).toMatchObject({ verdict: "did-not-happen" });
  });

  it("H58: a person completes a held key, or gives it back", async () => {
    for (const outcome of ["happened", "did-not-happen"] as const) {
      const { options, key, call, item } = await died("hold");
      await expect(call()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
      const { operation, store, clock } = options;
      const verdict = outcome === "happened" ? { outcome, result: "charged" } : { outcome };

      const answer = await resolveOutcome({ operation, store, clock }, key, {
        ...verdict,
        by: "ana",
        why: "seen",
      });

      expect(answer).toEqual({ resolved: true });
      expect(await item()).toMatchObject({
        state: outcome === "happened" ? "completed" : "released",
        attempt: 3,
      });
      expect(await call()).toBe(outcome === "happened" ? "charged" : "ran");
    }
  });
});
