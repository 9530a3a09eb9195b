/** Records after their retention that the database has not deleted yet. */
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
  STEPS,
  settlementOf,
  won,
} from "./given.ts";

const lateClaimOf = (recordKey: string, token = "token-2") =>
  claimOf(recordKey, {
    token,
    fingerprint: "fingerprint-2",
    attempt: 2,
    createdAt: AFTER_EXPIRY,
    leaseEndsAt: AFTER_EXPIRY + 30_000,
    expiresAt: EXPIRES_AT + 86_400,
  });

export const expiryCases = <Write>(): Cases<Write> => ({
  "an expired record is read and refuses as others do, until it is deleted": async ({ store, remove }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(releaseOf(recordKey));

    const record = await refused(store, lateClaimOf(recordKey));

    assertRecord(record, { state: "released", token: "token-1", expiresAt: EXPIRES_AT });
    await remove(recordKey);
    await won(store, lateClaimOf(recordKey));
  },

  "an expired record is reset whole by a claim that has seen it": async ({ store, alter }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf(recordKey));
    await alter(recordKey, { steps: STEPS });
    const expired = await refused(store, lateClaimOf(recordKey));

    await won(store, lateClaimOf(recordKey), expired);

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

  "an expired record that another claim replaced is not replaced again": async ({ store }) => {
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

  "a record without expiresAt has none until the next claim": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(releaseOf(recordKey, { expiresAt: undefined }));
    const released = await found(store, recordKey);
    assertRecord(released, { expiresAt: undefined });

    await won(store, lateClaimOf(recordKey), released);

    assertRecord(await found(store, recordKey), { expiresAt: EXPIRES_AT + 86_400 });
  },

  "an attempt may end the retention earlier than its claim did, and the next claim sets its own": async ({
    store,
  }) => {
    for (const earlier of [10, 3600, 3601, 80_000]) {
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey));
      await store.settle(releaseOf(recordKey, { expiresAt: EXPIRES_AT - earlier }));
      const released = await refused(store, lateClaimOf(recordKey));
      assertRecord(released, { state: "released", expiresAt: EXPIRES_AT - earlier });

      await won(store, lateClaimOf(recordKey), released);

      assertRecord(await found(store, recordKey), { expiresAt: EXPIRES_AT + 86_400 });
      const over = { token: "token-2", now: AFTER_EXPIRY, expiresAt: EXPIRES_AT + 86_400 - earlier };
      await store.settle(settlementOf(recordKey, over));
      assertRecord(await found(store, recordKey), { state: "completed", expiresAt: over.expiresAt });
    }
  },
});
