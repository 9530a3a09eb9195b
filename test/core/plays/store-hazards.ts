/** Hazards of a store of records, and what is made of its holds and steps: each in the same way on every store. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { systemClock } from "../../../lib/core/clock.ts";
import { OutcomeUnknownError } from "../../../lib/core/errors.ts";
import { identify } from "../../../lib/core/identity.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import type { Claim } from "../../../lib/core/store.ts";
import { reconciler } from "../../../lib/reconciler/reconciler.ts";
import { saga } from "../../../lib/saga/saga.ts";
import type { Ports } from "../../../packages/proof/model/store-play.ts";

interface StoreHazard {
  readonly name: string;
  check<Write>(ports: Ports<Write>): Promise<void>;
}

const OPERATION = "create-order";
const RETENTION_SECONDS = 60;

/** Calls under one key, some of them later, or of another tenant. */
function callsOn<Write>({ store }: Pick<Ports<Write>, "store">, scope = "tenant-1", key = randomUUID()) {
  const decisions: string[] = [];
  let runs = 0;
  const call = (laterMs = 0, whenKeyExpired?: "reject") =>
    runOnce(
      {
        operation: OPERATION,
        store,
        scope,
        leaseSeconds: 30,
        retentionSeconds: RETENTION_SECONDS,
        clock: { now: () => Date.now() + laterMs, sleep: async () => {} },
        observe: ({ decision }) => void decisions.push(decision),
        ...(whenKeyExpired && { whenKeyExpired }),
      },
      key,
      {},
      async () => `${scope} ${++runs}`,
    );
  return { call, key, decisions, recordKey: identify(OPERATION, scope, key).recordKey };
}

const AFTER_RETENTION_MS = (RETENTION_SECONDS + 60) * 1000;

export const STORE_HAZARDS: readonly StoreHazard[] = [
  {
    name: "H5: an expired record that is not deleted yet counts as absent",
    async check(ports) {
      const { call, recordKey } = callsOn(ports);
      await call();
      expect(await ports.store.find(recordKey, { consistent: true })).toBeDefined();

      expect([await call(AFTER_RETENTION_MS), await call(AFTER_RETENTION_MS)]).toEqual([
        "tenant-1 2",
        "tenant-1 2",
      ]);
    },
  },
  {
    name: "H14: a call that lost a race gets the winner's record, whatever it read before",
    async check({ store }) {
      const { recordKey } = callsOn({ store });
      const now = Date.now();
      const claimOf = (token: string, attempt: number): Claim => ({
        recordKey,
        token,
        fingerprint: "1:same",
        attempt,
        createdAt: now,
        keepsSteps: true,
        leaseEndsAt: now - 1000,
        expiresAt: Math.ceil(now / 1000) + 3600,
      });
      await store.claim(claimOf("first", 1));
      const read = await store.find(recordKey, { consistent: true });

      expect(await store.claim(claimOf("winner", 2), read)).toMatchObject({ won: true });

      const refused = { record: { token: "winner", attempt: 2 } };
      expect(await store.claim(claimOf("loser", 2), read)).toMatchObject({ won: false, ...refused });
      const settlement = { recordKey, token: "first", now, state: "completed", result: '"late"' } as const;
      const rest = { expiresAt: Math.ceil(now / 1000) + 3600, writes: [], messages: [], dropsSteps: true };
      expect(await store.settle({ ...settlement, ...rest })).toMatchObject({ settled: false, ...refused });
    },
  },
  {
    name: "H40: the use of a key after its retention is reported, or refused",
    async check(ports) {
      const { call, decisions } = callsOn(ports);
      await call();

      const refused = call(AFTER_RETENTION_MS, "reject");

      await expect(refused).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_INVALID" });
      expect(await call(AFTER_RETENTION_MS)).toBe("tenant-1 2");
      expect(decisions.filter((decision) => decision === "key-expired")).toHaveLength(2);
    },
  },
  {
    name: "H45: each replay asks the store: no caller gets a deleted result or another tenant's",
    async check(ports) {
      const { call, key, recordKey } = callsOn(ports);
      const other = callsOn(ports, "tenant-2", key);
      expect([await call(), await call(), await other.call()]).toEqual([
        "tenant-1 1",
        "tenant-1 1",
        "tenant-2 1",
      ]);

      await ports.remove(recordKey);

      expect([await call(), await other.call()]).toEqual(["tenant-1 2", "tenant-2 1"]);
    },
  },
  {
    name: "a key that is held is settled by a reconciler, and a call replays what it found out",
    async check({ store }) {
      const [operation, key] = ["hold-order", randomUUID()];
      const call = () =>
        runOnce({ operation, store, leaseSeconds: 30, whenAbandoned: "hold" }, key, {}, () => {
          throw new OutcomeUnknownError();
        });
      await expect(call()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
      await expect(call()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
      const clock = { ...systemClock, now: () => Date.now() + 3_600_000 };
      const verify = () => ({ outcome: "happened", result: "the parcel is there" }) as const;

      const report = await reconciler({ store, clock, operations: { [operation]: verify } })();

      expect([report.happened, await call()]).toEqual([1, "the parcel is there"]);
    },
  },
  {
    name: "a saga goes on behind its steps after a retry, and is undone the last first where it has to be",
    async check({ store }) {
      const done: string[] = [];
      const step = (name: string, fails: () => boolean = () => false) => ({
        name,
        run: () => {
          if (fails()) throw new Error(`no ${name}`);
          done.push(name);
        },
        compensate: () => void done.push(`no ${name}`),
      });
      let left = 1;
      const isOut = (error: unknown) => (error as Error).message === "no charge" && left-- > 0;
      const order = saga("saga-order", [
        step("order"),
        { ...step("charge", () => left > 0), retryLater: isOut },
        step("mail", () => true),
      ]);
      const start = (key: string) => order.start({ store, leaseSeconds: 30 }, key, {});
      const key = randomUUID();

      await expect(start(key)).rejects.toThrow("no charge");
      await expect(start(key)).rejects.toMatchObject({ code: "PERMANENT", step: "mail" });
      await expect(start(key)).rejects.toMatchObject({ code: "PERMANENT" });

      expect(done).toEqual(["order", "charge", "no mail", "no charge", "no order"]);
    },
  },
];
