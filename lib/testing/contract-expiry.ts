/** Records whose retention is over but which the database has not deleted yet. */
import assert from "node:assert/strict";
import {
  AFTER_EXPIRY,
  assertRecord,
  type Cases,
  claimOf,
  EXPIRES_AT,
  found,
  freshRecordKey,
  refused,
  releaseOf,
  settlementOf,
  won,
} from "./contract-given.ts";

const lateClaimOf = (recordKey: string, token = "token-2") =>
  claimOf(recordKey, {
    token,
    fingerprints: ["fingerprint-2"],
    now: AFTER_EXPIRY,
    leaseEndsAt: AFTER_EXPIRY + 30_000,
    expiresAt: EXPIRES_AT + 86_400,
  });

export const expiryCases = <Write>(): Cases<Write> => ({
  "a record is expired from expiresAt on, and then not claimable in one request": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(releaseOf(recordKey));

    const record = await refused(store, lateClaimOf(recordKey));

    assertRecord(record, { state: "released", token: "token-1", expiresAt: EXPIRES_AT });
    await won(store, { ...lateClaimOf(recordKey), now: AFTER_EXPIRY - 1 });
  },

  "an expired record whose lease ended is not taken over in one request": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));

    const record = await refused(store, {
      ...lateClaimOf(recordKey),
      fingerprints: ["fingerprint-1"],
    });

    assertRecord(record, { state: "in-progress", token: "token-1" });
  },

  "an expired record is reset whole by a claim that shows it, and attempt goes on": async ({
    store,
    alter,
  }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf(recordKey));
    await alter(recordKey, { steps: { charge: { id: "ch_1" } } });
    const expired = await refused(store, lateClaimOf(recordKey));

    const answer = await won(store, lateClaimOf(recordKey), expired);

    assert.equal(answer.attempt, 2);
    assert.equal(answer.takenOver, false);
    assertRecord(await found(store, recordKey), {
      state: "in-progress",
      token: "token-2",
      attempt: 2,
      leaseEndsAt: AFTER_EXPIRY + 30_000,
      fingerprint: "fingerprint-2",
      steps: undefined,
      result: undefined,
      createdAt: AFTER_EXPIRY,
      completedAt: undefined,
      expiresAt: EXPIRES_AT + 86_400,
    });
  },

  "an expired record that somebody else replaced is not replaced again": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf(recordKey));
    const expired = await refused(store, lateClaimOf(recordKey));
    await won(store, lateClaimOf(recordKey, "token-2"), expired);

    const record = await refused(store, lateClaimOf(recordKey, "token-3"), expired);

    assertRecord(record, { state: "in-progress", token: "token-2", attempt: 2 });
  },

  "an expired record whose slow worker finished meanwhile is not reset": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const expired = await refused(store, lateClaimOf(recordKey));
    await store.settle(settlementOf(recordKey, { now: AFTER_EXPIRY, expiresAt: EXPIRES_AT + 86_400 }));

    const record = await refused(store, lateClaimOf(recordKey), expired);

    assertRecord(record, { state: "completed", token: "token-1" });
  },

  "a claim that shows an expired record which is gone by now is refused without a record": async ({
    store,
    remove,
  }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const expired = await refused(store, lateClaimOf(recordKey));
    await remove(recordKey);

    assert.equal(await refused(store, lateClaimOf(recordKey), expired), undefined);
    assert.equal(await store.find(recordKey, { consistent: true }), undefined);
  },

  "the replacement of an expired record whose answer was lost shows that it is ours": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf(recordKey));
    const expired = await refused(store, lateClaimOf(recordKey));
    await won(store, lateClaimOf(recordKey), expired);

    const record = await refused(store, lateClaimOf(recordKey), expired);

    assertRecord(record, { state: "in-progress", token: "token-2", attempt: 2 });
  },

  "a record without expiresAt never expires": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(releaseOf(recordKey, { expiresAt: undefined }));
    assertRecord(await found(store, recordKey), { expiresAt: undefined });

    await won(store, lateClaimOf(recordKey));

    assertRecord(await found(store, recordKey), { expiresAt: EXPIRES_AT + 86_400 });
  },
});
