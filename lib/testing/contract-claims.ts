/** Who may claim a record, and what a refused claim learns. */
import assert from "node:assert/strict";
import { RECORD_VERSION } from "../contract.ts";
import { RecordCorruptError } from "../core/errors.ts";
import { readRefusal } from "../core/record.ts";
import {
  AFTER_LEASE,
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
  settlementOf,
  takeOverOf,
  won,
} from "./contract-given.ts";

export const claimCases = <Write>(): Cases<Write> => ({
  "claim wins where there is no record": async ({ store }) => {
    const recordKey = freshRecordKey();

    const answer = await won(store, claimOf(recordKey));

    assert.equal(answer.attempt, 1);
    assert.equal(answer.takenOver, false);
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

  "claim is refused while the lease is live, up to its last millisecond, and carries the record": async ({
    store,
  }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));

    const record = await refused(store, takeOverOf(recordKey, { now: LEASE_ENDS_AT }));

    assert.deepEqual(record, await found(store, recordKey));
    assertRecord(record, { state: "in-progress", token: "token-1", attempt: 1, leaseEndsAt: LEASE_ENDS_AT });
  },

  "claim takes over once the lease has ended": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));

    const answer = await won(store, takeOverOf(recordKey, { now: LEASE_ENDS_AT + 1 }));

    assert.equal(answer.attempt, 2);
    assert.equal(answer.takenOver, true);
    assertRecord(await found(store, recordKey), {
      state: "in-progress",
      token: "token-2",
      attempt: 2,
      leaseEndsAt: AFTER_LEASE + 30_000,
    });
  },

  "claim does not take over a record with another fingerprint": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));

    const record = await refused(store, takeOverOf(recordKey, { fingerprints: ["fingerprint-2"] }));

    assertRecord(record, { token: "token-1", fingerprint: "fingerprint-1", attempt: 1 });
  },

  "claim matches any of its fingerprints and stores the first": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));

    await won(store, takeOverOf(recordKey, { fingerprints: ["fingerprint-2", "fingerprint-1"] }));

    assertRecord(await found(store, recordKey), { fingerprint: "fingerprint-2" });
  },

  "claim with the token of the record is refused and shows that the claim is ours": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));

    const record = await refused(store, claimOf(recordKey));

    assertRecord(record, { state: "in-progress", token: "token-1", attempt: 1 });
  },

  "claim wins a released record with the same fingerprint, and attempt counts on": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(releaseOf(recordKey));

    const answer = await won(store, claimOf(recordKey, { token: "token-2" }));

    assert.equal(answer.attempt, 2);
    assert.equal(answer.takenOver, false);
    assertRecord(await found(store, recordKey), { state: "in-progress", token: "token-2", attempt: 2 });
  },

  "claim gives a released record without steps a new fingerprint": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(releaseOf(recordKey));

    await won(store, claimOf(recordKey, { token: "token-2", fingerprints: ["fingerprint-2"] }));

    assertRecord(await found(store, recordKey), { fingerprint: "fingerprint-2" });
  },

  "claim of a released record with steps needs its fingerprint": async ({ store, alter }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(releaseOf(recordKey));
    await alter(recordKey, { steps: { charge: { id: "ch_1" } } });

    const record = await refused(
      store,
      claimOf(recordKey, { token: "token-2", fingerprints: ["fingerprint-2"] }),
    );

    assertRecord(record, { state: "released", fingerprint: "fingerprint-1" });
    await won(store, claimOf(recordKey, { token: "token-2" }));
  },

  "claim keeps the steps of the attempt before, after a release and at a take-over": async ({
    store,
    alter,
  }) => {
    const recordKey = freshRecordKey();
    const steps = { charge: { id: "ch_1" } };
    await won(store, claimOf(recordKey));
    await store.settle(releaseOf(recordKey));
    await alter(recordKey, { steps });

    await won(store, claimOf(recordKey, { token: "token-2" }));
    assertRecord(await found(store, recordKey), { steps, attempt: 2 });
    await won(store, takeOverOf(recordKey, { token: "token-3" }));

    assertRecord(await found(store, recordKey), { steps, attempt: 3 });
  },

  ...Object.fromEntries(
    (["completed", "failed", "held"] as const).map((state) => [
      `claim is refused by a ${state} record, however long ago its lease ended`,
      async ({ store }: Parameters<Cases<Write>[string]>[0]) => {
        const recordKey = freshRecordKey();
        await won(store, claimOf(recordKey));
        await store.settle(settlementOf(recordKey, { state, result: '{"name":"E","message":"m"}' }));

        const record = await refused(store, takeOverOf(recordKey));

        assert.deepEqual(record, await found(store, recordKey));
        assertRecord(record, {
          state,
          token: "token-1",
          result: { in: "record", text: '{"name":"E","message":"m"}' },
        });
      },
    ]),
  ),

  "claim fails closed on a record of another version, also when it looks claimable": async ({
    store,
    alter,
  }) => {
    for (const version of [RECORD_VERSION - 1, RECORD_VERSION + 1]) {
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey));
      await store.settle(releaseOf(recordKey));
      await alter(recordKey, { version });
      const claim = takeOverOf(recordKey);

      await assert.rejects(async () => {
        const record = await refused(store, claim);
        assert.ok(record !== undefined);
        readRefusal(record, claim);
      }, RecordCorruptError);
    }
  },
});
