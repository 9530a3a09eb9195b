// What a record has room for: no write is refused for its size once the work before it has run.
import { type Execution, runOnce } from "onceonly";
import { fromPg, PostgresOutbox, PostgresTransactions, type PostgresWrite } from "onceonly/postgres";
import type pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import type { Store } from "../../lib/core/store.ts";
import { saga } from "../../lib/saga/saga.ts";
import {
  claimOf,
  freshRecordKey,
  insertionOf,
  NOW,
  releaseOf,
  settlementOf,
  won,
} from "../../lib/testing/contract/given.ts";
import { limitAsDsql, onlyDsql } from "./dsql-given.ts";
import { hasServer, poolOf, portOf, storeOf } from "./given.ts";

type Write = PostgresWrite<pg.PoolClient>;
type Run = Execution<Write>;

const KB = 1024;
const dialect = "dsql";
const failure = new Error("the printer is out of paper");

let pool: pg.Pool;
beforeAll(async () => {
  if (hasServer) pool = poolOf(await portOf());
});

async function dsqlStore() {
  const client = onlyDsql(fromPg(pool));
  const { store, table } = await storeOf<pg.PoolClient>(client, undefined, { dialect });
  await limitAsDsql(fromPg(pool), table);
  return { client, store, table };
}

const callOf =
  (store: Store<Write>) =>
  <T>(work: (run: Run) => T | Promise<T>) =>
    runOnce({ operation: "order", store, leaseSeconds: 30 }, "key", {}, work);

/** Counts how often each step runs. A step whose result is not kept answers so. */
function stepsOf(results: Readonly<Record<string, unknown>>) {
  const runs: Record<string, number> = {};
  const all = async ({ step }: Run) => {
    const answers: Record<string, unknown> = {};
    for (const [name, result] of Object.entries(results)) {
      answers[name] = await step(name, () => {
        runs[name] = (runs[name] ?? 0) + 1;
        return result;
      }).catch((error: { code: string; bytes: number }) => `${error.code} ${error.bytes}`);
    }
    return answers;
  };
  return { runs, all };
}

/** Writes steps that are done, once or with a copy of each write. */
function writerOf(store: Store<Write>, recordKey: string) {
  let written = 0;
  const changeOf = (name: string, result: string, writes: readonly Write[] = []) => {
    const step = { state: "done", attempt: 1, at: NOW + written, tracked: true, next: name } as const;
    const isFirst = written++ === 0;
    const change = { recordKey, token: "token-1", name, step, result, isFirst, writes };
    return () => store.writeStep?.({ ...change, resultExpiresAt: NOW, leaseEndsAt: NOW });
  };
  return {
    once: async (...step: Parameters<typeof changeOf>) => changeOf(...step)(),
    twice: async (...step: Parameters<typeof changeOf>) => {
      const write = changeOf(...step);
      return [await write(), await write()];
    },
  };
}

const TEXTS: readonly (readonly [string, string])[] = [
  ["plain text", "x".repeat(400 * KB)],
  ["text whose quotes are escaped", '"'.repeat(110 * KB)],
  ["text of three bytes a character", "語".repeat(130 * KB)],
  ["text of four bytes a character", "😀".repeat(100 * KB)],
];

describe.skipIf(!hasServer)("with the limits of Aurora DSQL, 1 MiB a column and 2 MiB a row", () => {
  it.each(TEXTS)("H15: no step with %s runs again, and each attempt gets the same", async (_, text) => {
    const call = callOf((await dsqlStore()).store);
    const { runs, all } = stepsOf({ a: text, b: text, c: text, small: "last" });
    const seen: unknown[] = [];
    const attempt = () =>
      call(async (run) => {
        seen.push(await all(run));
        throw failure;
      });

    for (let attempts = 0; attempts < 3; attempts++) await expect(attempt()).rejects.toBe(failure);

    expect(runs).toEqual({ a: 1, b: 1, c: 1, small: 1 });
    const lost = `RESULT_NOT_KEPT ${Buffer.byteLength(JSON.stringify(text))}`;
    expect(seen[0]).toEqual({ a: text, b: text, c: lost, small: "last" });
    expect(seen.slice(1)).toEqual([seen[0], seen[0]]);
  });

  it("H15: a step that is too large by itself, or once it is escaped, is written without its result", async () => {
    const { store } = await dsqlStore();
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const { twice } = writerOf(store, recordKey);

    for (const [name, text] of [
      ["alone", "x".repeat(1020 * KB + 1)],
      ["escaped", '"'.repeat(490 * KB)],
    ] as const) {
      const lost = { settled: true, lostBytes: text.length };
      expect(await twice(name, text)).toEqual([lost, lost]);
    }
    const steps = (await store.find(recordKey, { consistent: true }))?.steps;
    expect(steps).toMatchObject({
      alone: { state: "done", result: { in: "nowhere", bytes: 1020 * KB + 1 } },
      escaped: { state: "done", result: { in: "nowhere", bytes: 490 * KB } },
    });
  });

  it("H15: the results of steps fill the column to its last byte, and no further", async () => {
    for (const more of [-80, -64, -63, 0, 1000]) {
      const { store, table } = await dsqlStore();
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey));
      const { once, twice } = writerOf(store, recordKey);
      await once("a", "x".repeat(500 * KB));
      const { rows } = await pool.query(`SELECT octet_length(step_results) AS used FROM ${table}`);
      // Around a result stand its name with a number, a time, and the marks of JSON.
      const left = 964 * KB - rows[0].used - `{"1/${NOW + 1}/b":""}`.length + more;

      const answer = { settled: true, lostBytes: more > -64 ? left : undefined };
      expect(await twice("b", "y".repeat(left))).toEqual([answer, answer]);
    }
  });

  it("H15: 100 steps with the longest names and small results leave room for each other", async () => {
    const { store } = await dsqlStore();
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const { once } = writerOf(store, recordKey);
    const answers: unknown[] = [];

    // 12 KB of text that is no longer than what stays in the record. The large ones are kept apart.
    for (let index = 0; index < 100; index++) {
      const name = `${index}`.padStart(64, "\u0001");
      const result = index % 10 === 0 ? "x".repeat(300 * KB) : JSON.stringify("語".repeat(4094));
      answers.push(await once(name, result));
    }

    const kept = answers.filter((answer) => (answer as { lostBytes?: number }).lostBytes === undefined);
    expect([kept.length > 60, kept.length < 100]).toEqual([true, true]);
    const record = await store.find(recordKey, { consistent: true });
    expect(Object.keys(record?.steps ?? {})).toHaveLength(100);
    // The steps stay as long as the operation is not over.
    const evidence = "e".repeat(20 * KB);
    expect(await store.settle(releaseOf(recordKey, { evidence }))).toEqual({ settled: true });
  });

  it("H15: the writes of a step are committed, even if its result is not kept", async () => {
    const { store, table } = await dsqlStore();
    await pool.query(`CREATE TABLE ${table}_seats (id text PRIMARY KEY)`);
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const { once, twice } = writerOf(store, recordKey);
    const take = (id: string): Write[] => [
      (own) => own.query(`INSERT INTO ${table}_seats VALUES ($1)`, [id]),
    ];

    await once("a", "x".repeat(900 * KB), take("a"));
    const lost = { settled: true, lostBytes: 900 * KB };
    expect(await twice("b", "x".repeat(900 * KB), take("b"))).toEqual([lost, lost]);

    expect((await pool.query(`SELECT id FROM ${table}_seats ORDER BY id`)).rows).toEqual([
      { id: "a" },
      { id: "b" },
    ]);
  });

  it("H15: a saga with large results is undone from the last step on, each once", async () => {
    const call = callOf((await dsqlStore()).store);
    const log: string[] = [];
    const names = ["order", "stock", "hotel", "flight"];
    const trip = saga<string, Write>("trip", [
      ...names.map((name) => ({
        name,
        run: () => {
          log.push(name);
          return name.repeat(80 * KB);
        },
        compensate: () => void log.push(`undo ${name}`),
      })),
      { name: "pay", run: () => Promise.reject(failure) },
    ]);
    const run = () => call((execution) => trip.run(execution, "input"));

    for (let calls = 0; calls < 2; calls++)
      await expect(run()).rejects.toMatchObject({ name: "SagaCompensatedError" });

    expect(log).toEqual([...names, ...names.toReversed().map((name) => `undo ${name}`)]);
  });

  const message = (index: number, bytes: number) => ({
    queue: "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo",
    key: `order/${index}`,
    group: "order",
    body: "b".repeat(bytes),
  });

  it("H15: a result makes room for its commit's messages, and for their progress", async () => {
    const { client, store, table } = await dsqlStore();
    const outbox = new PostgresOutbox({ client, table, dialect });
    const recordKey = freshRecordKey();
    const messages = Array.from({ length: 1000 }, (_, index) => message(index, 370));
    store.checkEffects({ writes: [], messages });
    const result = "x".repeat(1020 * KB);
    await won(store, claimOf(recordKey));

    expect(await store.settle(settlementOf(recordKey, { result, messages }))).toEqual({ settled: true });
    const end = (await store.find(recordKey, { consistent: true }))?.result;
    expect(end).toEqual({ in: "nowhere", bytes: 1020 * KB });

    const progress = {
      state: "waiting",
      tries: 1,
      at: NOW,
      to: "t".repeat(256),
      code: "c".repeat(64),
    } as const;
    const unsent = await outbox.load(recordKey);
    await outbox.keep(
      unsent!,
      messages.map(() => progress),
      NOW,
    );
    expect((await outbox.load(recordKey))?.progress).toHaveLength(1000);
  });

  it("rejects messages that don't fit before any I/O, and the handler may commit others", async () => {
    const { client, store, table } = await dsqlStore();
    const tooMany = Array.from({ length: 30 }, (_, index) => message(index, 36 * KB));
    const refusal = {
      code: "OUTBOX_TRANSACTION_TOO_LARGE",
      message: expect.stringMatching(
        /^the messages of a commit need 11\d{5} bytes .*, but only 1044480 fit: /,
      ),
    };

    const answer = await callOf(store)(async ({ commit }) => {
      expect(() => commit("all", { messages: tooMany })).toThrow(expect.objectContaining(refusal));
      return commit("some", { messages: tooMany.slice(0, 20) });
    });
    expect(answer).toBe("some");

    const transactions = new PostgresTransactions({ client, table, dialect });
    const effects = { writes: [], messages: tooMany };
    expect(() => transactions.checkEffects(effects)).toThrow(expect.objectContaining(refusal));
    // An encrypted store makes them larger once they are checked.
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await expect(store.settle(settlementOf(recordKey, { messages: tooMany }))).rejects.toMatchObject(refusal);
  });

  it.each([
    ["of an insertion", false],
    ["of an insertion over a claim of its own", true],
  ])("H15: the result %s makes room for steps that stay next to it", async (_, isOwn) => {
    const { store } = await dsqlStore();
    for (const [bytes, isKept] of [
      [900 * KB, true],
      [1000 * KB, false],
    ] as const) {
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey));
      const { once } = writerOf(store, recordKey);
      await once("a", "x".repeat(960 * KB));
      for (let index = 0; index < 3; index++) await once(`${index}`, JSON.stringify("語".repeat(4090)));
      if (!isOwn) await store.settle(releaseOf(recordKey));
      const seen = isOwn ? undefined : await store.find(recordKey, { consistent: true });
      const own = isOwn ? {} : { token: "token-2", attempt: 2 };
      const insertion = insertionOf<Write>(recordKey, {
        ...own,
        keepsSteps: true,
        result: "y".repeat(bytes),
      });

      expect(await store.insert(insertion, seen)).toEqual({ settled: true });

      const record = await store.find(recordKey, { consistent: true });
      expect(record?.result?.in).toBe(isKept ? "item" : "nowhere");
      expect(record?.steps?.a).toMatchObject({ state: "done", result: { in: "item" } });
    }
  });
});
