// Hazards of outcomes that nobody knows, of deployments and of sagas, on real engines. Elsewhere in memory, in more cases.
import { randomUUID } from "node:crypto";
import { ScanCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { httpIdempotent, idempotentBatch, PermanentError, participant, runOnce, saga } from "onceonly";
import { resolveOutcome } from "onceonly/reconciler";
import { fakeClock, fakeLambdaContext } from "onceonly/testing";
import { describe, expect, inject, it } from "vitest";
import type { Execution } from "../../lib/core/execution.ts";
import type { EngineOptions } from "../../lib/core/options.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { connect, createOutboxTable, createTable } from "../kit/tables.ts";
import { gate } from "../kit/time/gate.ts";
import { fifoRecord, returned } from "../lambda/batch/given.ts";
import { v2Event } from "../lambda/http/given.ts";

describe.each(inject("dynamodbEngines"))("on $name", ({ endpoint }) => {
  const client = connect(endpoint);

  async function given(more: Partial<EngineOptions> = {}) {
    const [tableName, orders] = [await createOutboxTable(client), await createTable(client, "id")];
    const clock = fakeClock(Date.now());
    const store = new DynamoDBStore({ tableName, client });
    const options = {
      operation: "order",
      store,
      leaseSeconds: 30,
      renewLease: false as const,
      clock,
      ...more,
    };
    const key = randomUUID();
    const rows = async (TableName: string) =>
      ((await client.send(new ScanCommand({ TableName, ConsistentRead: true }))).Items ?? []).map((item) =>
        unmarshall(item),
      );
    /** The lease of whoever is at work ends. */
    const leaseEnds = () => clock.advance(36_000);
    /** Resolves when the work has begun; the attempt never ends by itself. */
    const die = (work: (execution: Execution<DynamoDBWrite>) => unknown) =>
      new Promise<void>((begun) => {
        void runOnce(options, key, {}, async (execution) => {
          await work(execution);
          begun();
          await new Promise(() => {});
        });
      });
    return { tableName, orders, clock, store, options, key, rows, leaseEnds, die };
  }

  it("H3: an attempt that comes late is refused by a system that is given its number", async () => {
    const { options, key, leaseEnds } = await given();
    const charges: number[] = [];
    const charge = (attempt = 0) => {
      if (attempt < Math.max(0, ...charges)) throw new Error("somebody newer was here");
      charges.push(attempt);
    };
    const { opened, open } = gate();
    const claimed = gate();
    const late = runOnce(options, key, {}, async ({ attempt }) => {
      claimed.open();
      await opened;
      charge(attempt);
      return "late";
    });
    await claimed.opened;
    await leaseEnds();

    const winner = await runOnce(options, key, {}, ({ attempt }) => {
      charge(attempt);
      return "winner";
    });
    open();

    expect([winner, await late, charges]).toEqual(["winner", "winner", [2]]);
  });

  it.each([
    ['"run", once where the child key is honoured', "run", true, ["charged"], 1],
    ['"run", twice where it is not', "run", false, ["charged"], 2],
    ['"hold", once, and every caller gets OUTCOME_UNKNOWN', "hold", false, ["OUTCOME_UNKNOWN"], 1],
    ["verify, once, and everybody gets the answer", "verify", false, ["charged"], 1],
  ] as const)(
    "H42: charged, answer lost, killed is, with %s",
    async (_, policy, keepsKeys, answers, charged) => {
      const charges: string[] = [];
      const charge = (childKey: string) => {
        if (!keepsKeys || !charges.includes(childKey)) charges.push(childKey);
        return "charged";
      };
      const reported: string[] = [];
      const verify: NonNullable<EngineOptions["whenAbandoned"]> = ({ childKey }) =>
        charges.includes(childKey("charge"))
          ? { outcome: "happened", result: "charged" }
          : { outcome: "did-not-happen" };
      const { options, key, leaseEnds, die } = await given({
        whenAbandoned: policy === "verify" ? verify : policy,
        observe: ({ decision }) => void reported.push(decision),
      });
      await die(({ childKey }) => charge(childKey("charge")));
      await leaseEnds();
      const call = () =>
        runOnce(options, key, {}, ({ childKey }) => charge(childKey("charge"))).catch(({ code }) => code);

      expect(new Set([await call(), await call()])).toEqual(new Set(answers));

      expect(charges).toHaveLength(charged);
      expect(reported.includes("held")).toBe(policy === "hold");
    },
  );

  it("H25: a FIFO head of unknown outcome holds back its own group only", async () => {
    const { store, clock, leaseEnds } = await given();
    const hold = { whenAbandoned: "hold", onRecordError: () => {} } as const;
    const batch = { operation: "order", store, clock, ...hold };
    const context = () => fakeLambdaContext({ clock, remainingMs: 30_000 });
    const begun = gate();
    const dying = idempotentBatch(() => {
      begun.open();
      return new Promise(() => {});
    }, batch);
    dying({ Records: [fifoRecord("a1", "a")] }, context()).catch(() => {});
    await begun.opened;
    await leaseEnds();
    const done: string[] = [];
    const handler = idempotentBatch(
      ({ messageId }: { messageId: string }) => void done.push(messageId),
      batch,
    );
    const Records = [fifoRecord("a1", "a"), fifoRecord("b1", "b"), fifoRecord("a2", "a")];

    expect(returned(await handler({ Records }, context()))).toEqual(["a1", "a2"]);

    expect(done).toEqual(["b1"]);
  });

  it("H46: a record of a later version is neither run over nor replayed", async () => {
    const { options, key, tableName, rows } = await given();
    await runOnce(options, key, {}, () => "done");
    const [record] = await rows(tableName);
    await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: { pk: { S: record?.pk } },
        UpdateExpression: "ADD #version :one",
        ExpressionAttributeNames: { "#version": "version" },
        ExpressionAttributeValues: { ":one": { N: "1" } },
      }),
    );
    let runs = 0;

    await expect(runOnce(options, key, {}, () => ++runs)).rejects.toMatchObject({ code: "RECORD_CORRUPT" });

    expect(runs).toBe(0);
  });

  it("H46: steps of another deployment are refused by the new version and by the old one, and neither runs", async () => {
    const { options, key } = await given();
    const attempt = (steps: readonly string[]) =>
      runOnce({ ...options, steps }, key, {}, async ({ step }) => {
        for (const name of steps) await step(name, () => ran.push(name));
        throw new Error("comes again");
      });
    const ran: string[] = [];
    await expect(attempt(["order"])).rejects.toThrow("comes again");

    await expect(attempt(["place"])).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
    await expect(attempt(["place", "order"])).rejects.toThrow("comes again");
    await expect(attempt(["order"])).rejects.toMatchObject({ code: "RECORD_CORRUPT" });

    expect(ran).toEqual(["order", "place"]);
  });

  it("H47: a changed fingerprint, and a changed key around the previous one, run nothing again", async () => {
    const { options, key } = await given();
    const former = { ...options, fingerprint: () => "v1" };
    await runOnce(former, key, {}, () => "first");
    let runs = 0;
    const again = () => `run ${++runs}`;

    const listed = await runOnce({ ...options, fingerprint: [() => "v2", () => "v1"] }, key, {}, again);
    const nested = await runOnce({ ...options, operation: "order/2" }, `${key}/2`, {}, () =>
      runOnce(former, key, {}, again),
    );

    expect([listed, nested, runs]).toEqual(["first", "first", 0]);
    const other = runOnce({ ...options, fingerprint: () => "v2" }, key, {}, again);
    await expect(other).rejects.toMatchObject({ code: "FINGERPRINT_MISMATCH" });
  });

  it("H50: a handler that answers 5xx after its commit is not run again", async () => {
    const { store, clock, orders, rows } = await given();
    let runs = 0;
    const handler = httpIdempotent(
      async (_: object, { idempotency }) => {
        runs++;
        await idempotency.commit(
          { statusCode: 201, body: "ordered" },
          { writes: [{ Put: { TableName: orders, Item: { id: randomUUID() } } }] },
        );
        return { statusCode: 502, body: "sorry" };
      },
      { operation: "order", store, clock, scope: "public" },
    );
    const ask = async () =>
      (await handler(
        v2Event({ headers: { "Idempotency-Key": '"k1"' } }),
        fakeLambdaContext({ clock, remainingMs: 30_000 }),
      )) as { statusCode: number };

    const answers = [await ask(), await ask()];

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201]);
    expect([runs, (await rows(orders)).length]).toEqual([1, 1]);
  });

  it("H54: with hold, and each error final, no attempt is followed by another", async () => {
    const { options, key, leaseEnds, die } = await given({ whenAbandoned: "hold", isFinalError: () => true });
    let runs = 0;
    await die(() => runs++);
    await leaseEnds();
    const failing = randomUUID();
    const work = () => {
      runs++;
      throw new Error("no answer");
    };

    for (let time = 0; time < 2; time++) {
      await expect(runOnce(options, key, {}, work)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
      await expect(runOnce(options, failing, {}, work)).rejects.toThrow("no answer");
    }

    expect(runs).toBe(2);
  });

  it("H58: a key that a person frees is fenced from the worker that lives after all", async () => {
    const { options, key, leaseEnds } = await given();
    const { opened, open } = gate();
    const claimed = gate();
    const worker = runOnce(options, key, {}, async () => {
      claimed.open();
      await opened;
      return "the worker";
    });
    await claimed.opened;
    const about = { operation: options.operation, store: options.store, clock: options.clock };
    const verdict = { outcome: "did-not-happen", by: "ana", why: "it hangs" } as const;

    // While its lease is live nobody takes the key from it.
    expect(await resolveOutcome(about, key, verdict)).toMatchObject({ resolved: false });
    await leaseEnds();
    expect(await resolveOutcome(about, key, verdict)).toEqual({ resolved: true });
    expect(await runOnce(options, key, {}, () => "the retry")).toBe("the retry");
    open();

    expect(await worker).toBe("the retry");
  });

  it.each([false, true])(
    "H53: a saga whose process dies before and after each of its requests is done or undone once (undone: %s)",
    async (isUndone) => {
      const { options, orders, rows, clock } = await given();
      const effects = new Map<string, number>();
      const at = (name: string, childKey: string) => effects.set(`${name} ${childKey}`, 1);
      const sagaIn = (id: string) =>
        saga<null, { Put: object } | { Delete: object }>("place", [
          {
            name: "order",
            run: ({ commit }) =>
              commit("created", { writes: [{ Put: { TableName: orders, Item: { id } } }] }),
            compensate: ({ result, commit }) =>
              result && commit("gone", { writes: [{ Delete: { TableName: orders, Key: { id } } }] }),
          },
          {
            name: "charge",
            run: ({ childKey }) => void at(`${id} charge`, childKey()),
            compensate: ({ childKey }) => void at(`${id} refund`, childKey()),
          },
          {
            name: "ship",
            run: ({ childKey }) => {
              if (isUndone) throw new PermanentError("too heavy");
              at(`${id} ship`, childKey());
            },
          },
        ]);
      // The first one lives, and says how many there are.
      let points = 1;
      for (let death = -1; death < points; death++) {
        const id = `order-${death}`;
        let passed = 0;
        let dies = true;
        const died = gate();
        const point = async () => {
          if (!dies || passed++ !== death) return;
          died.open();
          await new Promise(() => {});
        };
        const store = intercepted(options.store, async (_, request) => {
          await point();
          const answer = await request();
          await point();
          return answer;
        });
        const { operation: _, ...alone } = { ...options, store };
        const start = () =>
          sagaIn(id)
            .start(alone as never, id, null)
            .catch(({ name }) => name);
        await Promise.race([start(), died.opened]);
        if (death < 0) points = passed;
        dies = false;
        for (let tries = 0; tries < 3; tries++) {
          // Longer than a lease, and than a held key is left alone.
          await clock.advance(61_000);
          await start();
        }

        const ends = [await start(), [...effects.keys()].filter((each) => each.startsWith(`${id} `)).length];
        expect([death, ...ends]).toEqual([death, isUndone ? "SagaCompensatedError" : expect.anything(), 2]);
      }
      expect(points).toBeGreaterThan(8);
      expect(await rows(orders)).toHaveLength(isUndone ? 0 : points + 1);
    },
  );

  it("H65: a step and its compensation that meet in any order leave the effect done and undone once, or never done", async () => {
    for (const order of ["rc", "cr", "rrcc", "crcr", "ccr"]) {
      const { store, clock, key } = await given();
      const log: string[] = [];
      const reserve = participant<null, string>({
        ...{ operation: "reserve", store, leaseSeconds: 30, renewLease: false, clock },
        run: () => {
          log.push("run");
          return "reserved";
        },
        compensate: (_, result) => void log.push(`undo ${result}`),
      });

      for (const each of order) await (each === "r" ? reserve.run(key, null) : reserve.compensate(key, null));

      expect([order, log]).toEqual([order, order.startsWith("r") ? ["run", "undo reserved"] : []]);
    }
  });
});
