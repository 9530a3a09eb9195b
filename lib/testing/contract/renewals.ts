/** How a claim is renewed, and that another call's claim, or a finished one, can't be renewed. */
import assert from "node:assert/strict";
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
  renewalOf,
  settlementOf,
  takenOver,
  takeOverOf,
  unrenewed,
  won,
} from "./given.ts";

const LATER = LEASE_ENDS_AT + 20_000;

export const renewalCases = <Write>(): Cases<Write> => ({
  "renew moves the ends of lease and record, and nothing else": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const before = await found(store, recordKey);

    assert.deepEqual(await store.renew(renewalOf(recordKey)), { renewed: true });

    const ends = { leaseEndsAt: LEASE_ENDS_AT + 10_000, expiresAt: EXPIRES_AT + 10 };
    assert.deepEqual(await found(store, recordKey), { ...before, ...ends });
  },

  "renew without an expiry leaves a record without one": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey, { expiresAt: undefined }));

    assert.deepEqual(await store.renew(renewalOf(recordKey, { expiresAt: undefined })), { renewed: true });

    const record = await found(store, recordKey);
    assertRecord(record, { leaseEndsAt: LEASE_ENDS_AT + 10_000, expiresAt: undefined });
  },

  "renew with an expiry is refused by a record without one, and returns that record": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey, { expiresAt: undefined }));
    const before = await found(store, recordKey);

    assert.deepEqual(unrenewed(await store.renew(renewalOf(recordKey))), before);
    assert.deepEqual(await found(store, recordKey), before);
  },

  "renew again with the same arguments counts as renewed": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.renew(renewalOf(recordKey));
    const before = await found(store, recordKey);

    assert.deepEqual(await store.renew(renewalOf(recordKey)), { renewed: true });
    assert.deepEqual(await found(store, recordKey), before);
  },

  "renew works after the lease as long as no other attempt took over": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));

    const answer = await store.renew(renewalOf(recordKey, { leaseEndsAt: AFTER_LEASE + 60_000 }));

    assert.deepEqual(answer, { renewed: true });
  },

  "a copy of a renewal that arrives after a later one shortens nothing, and returns the record": async ({
    store,
  }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.renew(renewalOf(recordKey, { leaseEndsAt: LATER }));

    const record = unrenewed(await store.renew(renewalOf(recordKey)));

    assertRecord(record, { state: "in-progress", token: "token-1", leaseEndsAt: LATER });
    assert.deepEqual(await found(store, recordKey), record);
  },

  "a claim over what was seen before a renewal is refused": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const seen = await found(store, recordKey);
    await store.renew(renewalOf(recordKey));

    const record = await refused(store, takeOverOf(recordKey), seen);

    assertRecord(record, { token: "token-1", attempt: 1, leaseEndsAt: LEASE_ENDS_AT + 10_000 });
  },

  "a claim over what was seen after a renewal wins": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.renew(renewalOf(recordKey));

    await won(store, takeOverOf(recordKey), await found(store, recordKey));

    assertRecord(await found(store, recordKey), { token: "token-2", attempt: 2 });
  },

  "renew by a token that lost its claim changes nothing and returns the record": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await takenOver(store, recordKey);
    const before = await found(store, recordKey);

    assert.deepEqual(unrenewed(await store.renew(renewalOf(recordKey, { leaseEndsAt: LATER * 2 }))), before);
    assert.deepEqual(await found(store, recordKey), before);
  },

  "renew leaves a finished record alone, also by its own token": async ({ store }) => {
    for (const state of ["completed", "failed", "released", "held"] as const) {
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey));
      await store.settle(settlementOf(recordKey, { state, result: undefined }));
      const before = await found(store, recordKey);

      assert.deepEqual(unrenewed(await store.renew(renewalOf(recordKey))), before);
      assert.deepEqual(await found(store, recordKey), before);
    }
  },

  "settle completes and releases what was renewed": async ({ store }) => {
    const [done, released] = [freshRecordKey(), freshRecordKey()];
    for (const recordKey of [done, released]) {
      await won(store, claimOf(recordKey));
      await store.renew(renewalOf(recordKey));
    }

    assert.deepEqual(await store.settle(settlementOf(done)), { settled: true });
    assert.deepEqual(await store.settle(releaseOf(released)), { settled: true });
    assertRecord(await found(store, done), { state: "completed", createdAt: NOW });
  },

  "renew of a record that is gone is refused without a record and creates none": async ({
    store,
    remove,
  }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await remove(recordKey);

    assert.equal(unrenewed(await store.renew(renewalOf(recordKey))), undefined);
    assert.equal(await store.find(recordKey, { consistent: true }), undefined);
  },
});
