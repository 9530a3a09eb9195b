// The primary key decides races: one wins, and the others get the winner's record, whatever a snapshot shows.
import { runOnce } from "onceonly";
import type pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import type { IdempotencyRecord } from "../../lib/core/record.ts";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import type { PostgresStore } from "../../lib/postgres/postgres-store.ts";
import {
  claimOf,
  freshRecordKey,
  insertionOf,
  settlementOf,
  takeOverOf,
  untilAnswered,
} from "../../lib/testing/contract/given.ts";
import { until } from "../kit/time/until.ts";
import { freshTable, hasServer, poolOf, portOf, storeOf } from "./given.ts";

const CALLERS = Array.from({ length: 50 }, (_, index) => `caller-${index}`);

describe.skipIf(!hasServer).each(["read committed", "repeatable read", "serializable"])(
  "races, %s",
  (isolation) => {
    let pool: pg.Pool;
    let store: PostgresStore<pg.PoolClient>;
    let table: string;

    const somebodyWaits = async () => {
      const { rows } = await pool.query("SELECT 1 FROM pg_locks WHERE NOT granted");
      return rows.length > 0;
    };

    beforeAll(async () => {
      const options = `-c default_transaction_isolation=${isolation.replace(" ", "\\ ")}`;
      pool = poolOf(await portOf(), { max: 50, options });
      ({ store, table } = await storeOf(fromPg(pool)));
      // All connections are there before the race.
      await Promise.all(CALLERS.map(() => pool.query("SELECT pg_sleep(0.05)")));
    });

    it("is what the connections have", async () => {
      const { rows } = await pool.query("SHOW transaction_isolation");
      expect(rows).toEqual([{ transaction_isolation: isolation }]);
    });

    it("of 50 claims one wins, and 49 get its record", async () => {
      for (let round = 0; round < 10; round++) {
        const recordKey = freshRecordKey();

        const answers = await Promise.all(
          CALLERS.map((token) => untilAnswered(() => store.claim(claimOf(recordKey, { token })))),
        );

        const winner = CALLERS.filter((_, index) => answers[index]?.won);
        const tokens = answers.flatMap((answer) => (answer.won ? [] : answer.record?.token));
        expect(winner).toHaveLength(1);
        expect(tokens).toEqual(Array(49).fill(winner[0]));
      }
    });

    it("of 50 take-overs one wins, and 49 get its record", async () => {
      const recordKey = freshRecordKey();
      await store.claim(claimOf(recordKey));
      const seen = (await store.find(recordKey, { consistent: true })) as IdempotencyRecord;

      const answers = await Promise.all(
        CALLERS.map((token) => untilAnswered(() => store.claim(takeOverOf(recordKey, { token }), seen))),
      );

      const winner = CALLERS.filter((_, index) => answers[index]?.won);
      expect(winner).toHaveLength(1);
      for (const answer of answers) {
        if (!answer.won) expect(answer.record).toMatchObject({ token: winner[0], attempt: 2 });
      }
    });

    it("of 50 insertions one is applied, with its writes", async () => {
      const recordKey = freshRecordKey();
      const effects = freshTable();
      await pool.query(`CREATE TABLE ${effects} (token text)`);

      const answers = await Promise.all(
        CALLERS.map((token) =>
          untilAnswered(() =>
            store.insert(
              insertionOf(recordKey, {
                token,
                writes: [
                  (client: pg.PoolClient) => client.query(`INSERT INTO ${effects} VALUES ($1)`, [token]),
                ],
              }),
            ),
          ),
        ),
      );

      const { rows } = await pool.query(`SELECT token FROM ${effects}`);
      expect(rows).toHaveLength(1);
      expect(CALLERS.filter((_, index) => answers[index]?.settled)).toEqual([rows[0].token]);
      for (const answer of answers) if (!answer.settled) expect(answer.record).toMatchObject(rows[0]);
    });

    it("H14: a claim that waited for another's transaction gets the record that its own snapshot does not show", async ({
      signal,
    }) => {
      const recordKey = freshRecordKey();
      const other = await pool.connect();
      await other.query("BEGIN");
      await other.query(
        `INSERT INTO ${table} (pk, version, state, token, attempt, lease_ends_at, fingerprint, created_at, settled_at)
         VALUES ($1, 1, 'completed', 'other', 1, 1, 'fingerprint-1', 1, 1)`,
        [recordKey],
      );
      const claimed = store.claim(claimOf(recordKey));
      expect(await until(somebodyWaits, { seconds: 20, signal })).toBe(true);

      await other.query("COMMIT");
      other.release();

      expect(await claimed).toMatchObject({ won: false, record: { token: "other" } });
    });

    it("H14: a completion that waited for a take-over is refused and gets the winner", async ({ signal }) => {
      const recordKey = freshRecordKey();
      await store.claim(claimOf(recordKey));
      const other = await pool.connect();
      await other.query("BEGIN");
      await other.query(`UPDATE ${table} SET token = 'other' WHERE pk = $1`, [recordKey]);
      const settled = untilAnswered(() => store.settle(settlementOf(recordKey)));
      expect(await until(somebodyWaits, { seconds: 20, signal })).toBe(true);

      await other.query("COMMIT");
      other.release();

      expect(await settled).toMatchObject({ settled: false, record: { token: "other" } });
    });

    it("of 50 calls with one key the handler runs in one, and all get its answer", async () => {
      for (const mode of ["claimed", "optimistic"] as const) {
        const effects = freshTable();
        await pool.query(`CREATE TABLE ${effects} (caller text)`);
        const waiting = mode === "claimed" && { whenInProgress: { waitSeconds: 20, maxWaiters: 50 } };
        const options = { operation: `race-${mode}`, store, mode, leaseSeconds: 30, ...waiting };

        const answers = await Promise.all(
          CALLERS.map((caller) =>
            runOnce(options, "one-key", {}, async ({ commit }) =>
              commit(caller, {
                writes: (client) => client.query(`INSERT INTO ${effects} VALUES ($1)`, [caller]),
              }),
            ),
          ),
        );

        const { rows } = await pool.query(`SELECT caller FROM ${effects}`);
        expect(rows).toEqual([{ caller: answers[0] }]);
        expect(new Set(answers).size).toBe(1);
      }
    });
  },
);
