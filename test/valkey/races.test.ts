// One script decides races: one wins, and the others get the winner's record.
import { runOnce } from "onceonly";
import { describe, expect, it } from "vitest";
import type { IdempotencyRecord } from "../../lib/core/record.ts";
import { claimOf, freshRecordKey, insertionOf, takeOverOf } from "../../lib/testing/contract/given.ts";
import { CLIENTS, freshPrefix, hasServer, portOf, redisOf, storeOf } from "./given.ts";

const CALLERS = Array.from({ length: 50 }, (_, index) => `caller-${index}`);

describe.skipIf(!hasServer).each(Object.entries(CLIENTS))("races, with %s", (_, connect) => {
  // Some callers share a connection, others do not.
  const given = async () => {
    const port = await portOf();
    const prefix = freshPrefix();
    const clients = await Promise.all(Array.from({ length: 5 }, () => connect(port)));
    const stores = clients.map((client) => storeOf(client, { prefix }).store);
    const of = (index: number) => stores[index % stores.length] as (typeof stores)[number];
    return { port, of };
  };

  it("of 50 claims one wins, and 49 get its record", async () => {
    const { of } = await given();
    const recordKey = freshRecordKey();

    const answers = await Promise.all(
      CALLERS.map((token, index) => of(index).claim(claimOf(recordKey, { token }))),
    );

    const winner = CALLERS.filter((_, index) => answers[index]?.won);
    const tokens = answers.flatMap((answer) => (answer.won ? [] : answer.record?.token));
    expect(winner).toHaveLength(1);
    expect(tokens).toEqual(Array(49).fill(winner[0]));
  });

  it("of 50 take-overs one wins, and 49 get its record", async () => {
    const { of } = await given();
    const recordKey = freshRecordKey();
    await of(0).claim(claimOf(recordKey));
    const seen = (await of(1).find(recordKey, { consistent: true })) as IdempotencyRecord;

    const answers = await Promise.all(
      CALLERS.map((token, index) => of(index).claim(takeOverOf(recordKey, { token }), seen)),
    );

    const winner = CALLERS.filter((_, index) => answers[index]?.won);
    expect(winner).toHaveLength(1);
    for (const answer of answers) {
      if (!answer.won) expect(answer.record).toMatchObject({ token: winner[0], attempt: 2 });
    }
  });

  it("of 50 insertions one is applied, with its writes", async () => {
    const { of, port } = await given();
    const recordKey = freshRecordKey();
    const effects = freshPrefix();

    const answers = await Promise.all(
      CALLERS.map((token, index) =>
        of(index).insert(insertionOf(recordKey, { token, writes: [{ command: ["RPUSH", effects, token] }] })),
      ),
    );

    const applied = await redisOf(port).lrange(effects, 0, -1);
    expect(applied).toHaveLength(1);
    expect(CALLERS.filter((_, index) => answers[index]?.settled)).toEqual(applied);
  });

  it.each(["claimed", "optimistic"] as const)(
    "of 50 calls with one key the handler runs in one, and all get its answer, %s",
    async (mode) => {
      const { of, port } = await given();
      const effects = freshPrefix();
      const waiting = mode === "claimed" && { whenInProgress: { waitSeconds: 20, maxWaiters: 50 } };

      const answers = await Promise.all(
        CALLERS.map((caller, index) =>
          runOnce(
            { operation: `race-${mode}`, store: of(index), mode, leaseSeconds: 30, ...waiting },
            "one-key",
            {},
            async ({ commit }) => commit(caller, { writes: [{ command: ["RPUSH", effects, caller] }] }),
          ),
        ),
      );

      expect(await redisOf(port).lrange(effects, 0, -1)).toEqual([answers[0]]);
      expect(new Set(answers).size).toBe(1);
    },
  );
});
