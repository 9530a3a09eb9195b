// Every position of a hook, among hooks that read the whole request, with handlers that report and handlers that do not.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { DynamoDBStore } from "../../../lib/dynamodb/dynamodb-store.ts";
import { describeOnMiddies } from "../../kit/middies.ts";
import { connect, createTable } from "../../kit/tables.ts";
import { given } from "../given.ts";
import { HOOK_ROWS } from "./cases/hook-rows.ts";
import { TIMEOUT_ROWS } from "./cases/timeout-rows.ts";
import { READER, type StackKind, stackOf, timeoutStackOf } from "./world.ts";

const KINDS: readonly (readonly [name: string, kind: StackKind])[] = [
  ["a handler", { reports: false, readers: [] }],
  ["a handler, among hooks that read everything", { reports: false, readers: [READER] }],
  ["a handler that reports", { reports: true, readers: [] }],
  ["a handler that reports, among hooks that read everything", { reports: true, readers: [READER] }],
];

describeOnMiddies("idempotency", (middy) => {
  describe.each(KINDS)("answers 2 and 3: around %s", (_, kind) => {
    it.each(HOOK_ROWS)("H49: $where: $what", async (row) => {
      const { options, clock, states, decisions } = given();
      const { call, runs } = stackOf(middy, row, options, kind);

      const first = await call();
      if (row.unawaited === "always" || (row.unawaited && !kind.reports)) await clock.advance(0);
      const end = { state: states()[0] ?? "none", reported: decisions() };
      const runsFirst = runs();
      const retry = await call();
      const runsAgain = runs();
      await clock.advance(36_000);
      const last = await call();

      expect({ ...end, answers: [first, retry], runs: [runsFirst, runsAgain, runs()] }).toEqual({
        state: row.state,
        reported: row.reported,
        answers: row.answers,
        runs: row.runs,
      });
      expect(last).toEqual(retry);
    });
  });
});

describe.each(inject("dynamodbEngines"))("on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let tableName: string;
  beforeAll(async () => {
    tableName = await createTable(client);
  });

  /** The real time, which the engine's clock is compared with, and an operation of its own. */
  function world() {
    const { options, decisions } = given();
    const { clock: _clock, random: _random, ...rest } = options;
    const store = new DynamoDBStore({ tableName, client });
    return { store, options: { ...rest, operation: randomUUID() }, decisions };
  }

  describeOnMiddies("idempotency", (middy) => {
    it.each(KINDS)("H49: every position of a hook, around %s", async (_, kind) => {
      for (const row of HOOK_ROWS) {
        const { store, options, decisions } = world();
        const { call, runs } = stackOf(middy, row, { ...options, store }, kind);

        const first = await call();
        await expect.poll(decisions).toEqual(row.reported);
        const retry = await call();

        expect({ row, answers: [first, retry], runs: runs() }).toEqual({
          row,
          answers: row.answers,
          runs: row.runs[1],
        });
      }
    });

    it.each(TIMEOUT_ROWS.filter((row) => row.reports))(
      "H42: $where with $what, and a late result",
      async (row) => {
        const { store, options, decisions } = world();
        const { call, goOn } = timeoutStackOf(middy, row, { ...options, store });

        expect(await call()).toBe("timed out");
        expect(await call()).toContain("in progress");
        goOn();
        await expect.poll(decisions).toEqual(["outcome-unknown", "in-progress", "executed"]);

        expect(await call()).toBe("late");
      },
    );
  });
});

const TIMEOUTS = TIMEOUT_ROWS.flatMap((row) =>
  [[], [READER]].map((readers) => ({
    row,
    readers,
    name: `${row.what}${readers.length > 0 ? ", among readers" : ""}`,
  })),
);

describeOnMiddies("answers 6: idempotency", (middy) => {
  it.each(TIMEOUTS)("H42: early timeout with $name", async ({ row, readers }) => {
    const { options, clock, states, decisions } = given();
    const { call, goOn } = timeoutStackOf(middy, row, options, readers);

    const first = await call();
    const end = { state: states()[0], reported: decisions() };
    const retry = await call();
    goOn();
    await clock.advance(row.state === "in-progress" && !row.reports ? 36_000 : 0);
    const last = await call();

    expect({ ...end, answers: [first, last] }).toEqual({
      state: row.state,
      reported: row.reported,
      answers: row.answers,
    });
    if (row.state === "in-progress") expect(retry).toContain("in progress");
  });
});
