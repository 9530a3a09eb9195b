// The handler's own statement gets no answer, because its connection or its whole server has fallen silent: the call ends.

import { runOnce } from "onceonly";
import { fromPg, PostgresTransactions } from "onceonly/postgres";
import { fakeClock } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { endOf } from "../kit/time/end-of.ts";
import { inTier, isFull } from "../setup/tier.ts";
import { onlyDsql } from "./dsql-given.ts";
import { hasServer, poolOf, portOf, storeOf } from "./given.ts";
import { CONNECTS, type Connect, lossyServer, withPg, withPostgresJs } from "./lost-given.ts";
import { hasPgBouncer } from "./pgbouncer-given.ts";

const { pg, "postgres.js": postgresJs, ...others } = CONNECTS as Record<string, Connect>;
const SHORT = { pg, "postgres.js": postgresJs } as Record<string, Connect>;
const MINUTE = 60_000;

describe.skipIf(!hasServer).each([
  ...Object.entries(inTier(SHORT, { ...SHORT, ...others })).map(([name, connect]) => ({ name, connect })),
  ...(isFull && hasPgBouncer
    ? [
        { name: "pg through PgBouncer", connect: withPg, through: "PgBouncer" as const },
        {
          name: "postgres.js through PgBouncer",
          connect: (at: number) => withPostgresJs(at, { prepare: false }),
          through: "PgBouncer" as const,
        },
      ]
    : []),
])("with $name", ({ connect, ...server }) => {
  const lossy = lossyServer("through" in server ? server.through : undefined);

  it.each(["silence", "half-silence"] as const)(
    "H80: a handler's own statement on a connection that falls silent ends with a code once its session is gone: %s",
    async (cut) => {
      const { bookBy, bookElsewhere, clock, cutAtInsert, endIdleSession, ids, states } =
        await lossy.shop(connect);
      let signal: AbortSignal | undefined;
      let isSilent = false;
      let turns = 0;
      const call = bookBy(async (insert, execution) => {
        signal = execution.signal;
        void cutAtInsert(cut).then(() => {
          isSilent = true;
        });
        await insert();
      });

      const end = await endOf(
        call,
        async (passes) => {
          if (!passes) return;
          // A statement may take as long as it likes while its session is there.
          if (turns <= 4) expect(signal?.aborted).toBe(false);
          // Under load, the server may not be done with the statement at the first try.
          if (turns++ >= 4) await endIdleSession();
          await clock.advance(10_000);
        },
        () => isSilent,
      );

      expect(end).toBe("STORE_UNAVAILABLE");
      expect(turns).toBeGreaterThan(4);
      expect(signal?.aborted).toBe(true);
      expect([await ids(), await states()]).toEqual([[], []]);
      lossy.proxy.heal();
      expect(await bookElsewhere()).toBe("booked");
      expect([await ids(), await states()]).toEqual([["a"], ["completed"]]);
    },
  );

  it("H80: a handler's own statement ends with a code when the server falls silent on all connections", async () => {
    const { bookBy, bookElsewhere, clock, endIdleSession, ids, states } = await lossy.shop(connect);
    let isSilent = false;
    const call = bookBy(async (insert) => {
      await insert();
      lossy.proxy.silenceAll(true);
      isSilent = true;
      await insert();
    });

    const end = await endOf(
      call,
      (passes) => passes && clock.advance(31_000),
      () => isSilent,
    );

    expect(end).toBe("STORE_UNAVAILABLE");
    lossy.proxy.heal();
    await endIdleSession();
    expect(await bookElsewhere()).toBe("booked");
    expect([await ids(), await states()]).toEqual([["a"], ["completed"]]);
  });

  it("H80: a call whose lease isn't renewed ends too, after its signal has aborted", async () => {
    const { bookBy, bookElsewhere, clock, cutAtInsert, endIdleSession, ids, states } =
      await lossy.shop(connect);
    let isSilent = false;
    const call = bookBy(
      async (insert) => {
        void cutAtInsert("silence").then(() => {
          isSilent = true;
        });
        await insert();
      },
      { renewLease: false },
    );

    const end = await endOf(
      call,
      (passes) => passes && clock.advance(31_000),
      () => isSilent,
    );

    expect(end).toBe("STORE_UNAVAILABLE");
    lossy.proxy.heal();
    await endIdleSession();
    expect(await bookElsewhere()).toBe("booked");
    expect([await ids(), await states()]).toEqual([["a"], ["completed"]]);
  });

  it("H80: a handler that runs for an hour is left alone, and so is its session", async () => {
    const answers: Promise<unknown>[] = [];
    const watched: Connect = (at) => {
      const { client, run } = connect(at);
      const query: typeof client.query = (text, values) => {
        const answer = client.query(text, values);
        answers.push(answer);
        return answer;
      };
      return { client: { ...client, query }, run };
    };
    const { bookBy, clock, ids } = await lossy.shop(watched);
    const call = bookBy(async (insert) => {
      for (let minutes = 0; minutes < 60; minutes++) {
        await insert();
        await clock.advance(MINUTE);
        await Promise.all(answers);
      }
      return "booked";
    });

    expect(await call).toBe("booked");
    expect(answers.length).toBeGreaterThanOrEqual(60);
    expect(await ids()).toHaveLength(60);
  });
});

describe.skipIf(!hasServer).each([
  ["pg", (at: number) => withPg(at, { max: 1 })],
  ["postgres.js", (at: number) => withPostgresJs(at, { max: 1 })],
] as const)("with %s, and a pool whose connections are all in use", (_, connect) => {
  const lossy = lossyServer();

  it.each([
    [14, "booked", ["a"]],
    [16, "STORE_UNAVAILABLE", []],
  ] as const)("H80: a handler of %d minutes ends with %s", async (minutes, expected, rows) => {
    const { bookBy, clock, ids } = await lossy.shop(connect);
    const call = bookBy(async (insert) => {
      await insert();
      await clock.advance(minutes * MINUTE);
      return "booked";
    });

    expect(await call.catch(({ code, message }) => code ?? message)).toBe(expected);
    expect(await ids()).toEqual(rows);
  });
});

describe.skipIf(!hasServer)("with Aurora DSQL, which shows no sessions", () => {
  it.each([
    [4, "booked"],
    [6, "STORE_UNAVAILABLE"],
  ])(
    "H80: a handler of %d minutes ends with %s: its transactions last five minutes",
    async (minutes, expected) => {
      const client = onlyDsql(fromPg(poolOf(await portOf())));
      const { table } = await storeOf(client, undefined, { dialect: "dsql" });
      const store = new PostgresTransactions({ client, table, dialect: "dsql" });
      const clock = fakeClock(Date.now());
      const call = runOnce({ operation: "order", store, clock, leaseSeconds: 30 }, "key", {}, async () => {
        await clock.advance(minutes * MINUTE);
        return "booked";
      });

      expect(await call.catch(({ code, message }) => code ?? message)).toBe(expected);
    },
  );
});
