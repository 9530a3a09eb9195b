/** Claims: insert if there is no record, or change a record that is unchanged since it was seen. */
import assert from "node:assert/strict";
import { RECORD_VERSION } from "../../contract.ts";
import { classify } from "../../core/record.ts";
import type { Store } from "../../core/store.ts";
import {
  assertRecord,
  type Cases,
  claimOf,
  EXPIRES_AT,
  found,
  freshRecordKey,
  LEASE_ENDS_AT,
  NOW,
  refused,
  releaseOf,
  STEPS,
  settlementOf,
  takenOver,
  takeOverOf,
  withCode,
  won,
} from "./given.ts";

const RESULT = '{"name":"E","message":"m"}';

/** How to bring a record into each state that a claim can meet. */
const STATES = {
  "in-progress": async () => {},
  released: async (store, recordKey) => {
    await store.settle(releaseOf(recordKey));
  },
  completed: async (store, recordKey) => {
    await store.settle(settlementOf(recordKey, { result: RESULT }));
  },
  failed: async (store, recordKey) => {
    await store.settle(settlementOf(recordKey, { state: "failed", result: RESULT }));
  },
  held: async (store, recordKey) => {
    await store.settle(settlementOf(recordKey, { state: "held", result: undefined }));
  },
} as const satisfies Record<string, (store: Store<never>, recordKey: string) => Promise<void>>;

export const claimCases = <Write>(): Cases<Write> => ({
  "claim inserts a record where there is none": async ({ store }) => {
    const recordKey = freshRecordKey();

    await won(store, claimOf(recordKey));

    assertRecord(await found(store, recordKey), {
      version: RECORD_VERSION,
      state: "in-progress",
      token: "token-1",
      attempt: 1,
      leaseEndsAt: LEASE_ENDS_AT,
      fingerprint: "fingerprint-1",
      steps: undefined,
      result: undefined,
      createdAt: NOW,
      completedAt: undefined,
      expiresAt: EXPIRES_AT,
    });
  },

  "claim keeps records apart whose keys differ": async ({ store }) => {
    await won(store, claimOf(freshRecordKey()));

    await won(store, claimOf(freshRecordKey()));
  },

  ...Object.fromEntries(
    Object.entries(STATES).map(([state, reach]) => [
      `claim that has seen no record is refused by one that is ${state}, and carries it`,
      async ({ store }: Parameters<Cases<Write>[string]>[0]) => {
        const recordKey = freshRecordKey();
        await won(store, claimOf(recordKey));
        await reach(store as Store<never>, recordKey);
        const before = await found(store, recordKey);

        const record = await refused(store, takeOverOf(recordKey));

        assert.deepEqual(record, before);
        assert.deepEqual(await found(store, recordKey), before);
        assertRecord(record, { state: state as keyof typeof STATES, token: "token-1", attempt: 1 });
      },
    ]),
  ),

  ...Object.fromEntries(
    Object.entries(STATES).map(([state, reach]) => [
      `claim replaces a record that still is ${state} as it was seen, and leaves nothing of its end`,
      async ({ store }: Parameters<Cases<Write>[string]>[0]) => {
        const recordKey = freshRecordKey();
        await won(store, claimOf(recordKey));
        await reach(store as Store<never>, recordKey);
        const seen = await found(store, recordKey);

        const claim = takeOverOf(recordKey, { fingerprint: "fingerprint-2", createdAt: NOW + 1 });
        await won(store, claim, seen);

        assertRecord(await found(store, recordKey), {
          version: RECORD_VERSION,
          state: "in-progress",
          token: "token-2",
          attempt: 2,
          leaseEndsAt: claim.leaseEndsAt,
          fingerprint: "fingerprint-2",
          result: undefined,
          createdAt: NOW + 1,
          completedAt: undefined,
          expiresAt: EXPIRES_AT,
        });
      },
    ]),
  ),

  "claim is refused by a record whose token, state or lease end is not what was seen": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const seen = await found(store, recordKey);

    for (const other of [{ token: "token-0" }, { state: "released" }, { leaseEndsAt: 1 }] as const) {
      const record = await refused(store, takeOverOf(recordKey), { ...seen, ...other });
      assert.deepEqual(record, seen);
    }

    assert.deepEqual(await found(store, recordKey), seen);
  },

  "claim over a record that is gone by now is refused without a record, and makes none": async ({
    store,
    remove,
  }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const seen = await found(store, recordKey);
    await remove(recordKey);

    assert.equal(await refused(store, takeOverOf(recordKey), seen), undefined);
    assert.equal(await store.find(recordKey, { consistent: true }), undefined);
  },

  "claim with the token of the record is refused and shows that the claim is ours": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));

    assertRecord(await refused(store, claimOf(recordKey)), { state: "in-progress", token: "token-1" });

    const seen = await found(store, recordKey);
    await won(store, takeOverOf(recordKey), seen);
    assertRecord(await refused(store, takeOverOf(recordKey), seen), {
      state: "in-progress",
      token: "token-2",
      attempt: 2,
    });
  },

  "a token claims once: a copy of its claim that arrives after the release changes nothing": async ({
    store,
  }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const seen = await found(store, recordKey);
    await store.settle(releaseOf(recordKey));

    assertRecord(await refused(store, claimOf(recordKey)), { state: "released", token: "token-1" });

    await takenOver(store, recordKey);
    await store.settle(releaseOf(recordKey, { token: "token-2" }));
    for (const copy of [seen, { ...seen, state: "released" } as const]) {
      const record = await refused(store, takeOverOf(recordKey), copy);
      assertRecord(record, { state: "released", token: "token-2", attempt: 2 });
    }
  },

  "claim keeps the steps of the attempt before only where it says so": async ({ store, alter }) => {
    const recordKey = freshRecordKey();
    const steps = STEPS;
    await won(store, claimOf(recordKey));
    await alter(recordKey, { steps });

    await takenOver(store, recordKey);
    assertRecord(await found(store, recordKey), { steps, attempt: 2 });
    await takenOver(store, recordKey, { token: "token-3", attempt: 3, keepsSteps: false });

    assertRecord(await found(store, recordKey), { steps: undefined, attempt: 3 });
  },

  "claim fails closed on a record of another version": async ({ store, alter }) => {
    for (const version of [RECORD_VERSION - 1, RECORD_VERSION + 1]) {
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey));
      await store.settle(releaseOf(recordKey));
      await alter(recordKey, { version });

      await assert.rejects(async () => {
        const record = await refused(store, takeOverOf(recordKey));
        assert.ok(record !== undefined);
        classify(record, { token: "token-2", fingerprints: ["fingerprint-1"], now: NOW });
      }, withCode("RECORD_CORRUPT"));
    }
  },
});
