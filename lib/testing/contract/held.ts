/** What may be held has no expiry, and the evidence of a verdict stays until there is another one, or the record is expired. */
import assert from "node:assert/strict";
import {
  AFTER_EXPIRY,
  AFTER_LEASE,
  assertRecord,
  type Cases,
  claimOf,
  EXPIRES_AT,
  found,
  freshRecordKey,
  releaseOf,
  settlementOf,
  takenOver,
  takeOverOf,
  won,
} from "./given.ts";

const EVIDENCE = '{"verdict":"unknown","by":"verify","at":1,"attempt":1,"asked":"GET /charges/ä"}';
const OTHER = '{"verdict":"happened","by":"somebody","at":2,"attempt":1}';

export const heldCases = <Write>(): Cases<Write> => ({
  "claim without an expiry makes a record that never expires": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey, { expiresAt: undefined }));

    assertRecord(await found(store, recordKey), { state: "in-progress", expiresAt: undefined });
  },

  "claim without an expiry takes it from the record that is taken over": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await takenOver(store, recordKey, { expiresAt: undefined });

    assertRecord(await found(store, recordKey), { token: "token-2", expiresAt: undefined });
  },

  "settle to held keeps evidence, and no expiry": async ({ store }) => {
    const recordKey = freshRecordKey();
    const held = settlementOf<Write>(recordKey, {
      state: "held",
      result: undefined,
      expiresAt: undefined,
      evidence: EVIDENCE,
    });
    await won(store, claimOf(recordKey));

    assert.deepEqual(await store.settle(held), { settled: true });
    assert.deepEqual(await store.settle(held), { settled: true });

    assertRecord(await found(store, recordKey), {
      state: "held",
      evidence: EVIDENCE,
      expiresAt: undefined,
      result: undefined,
    });
  },

  "settle keeps evidence with any state": async ({ store }) => {
    for (const state of ["completed", "failed", "released"] as const) {
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey));
      await store.settle(settlementOf<Write>(recordKey, { state, evidence: EVIDENCE }));

      assertRecord(await found(store, recordKey), { state, evidence: EVIDENCE, expiresAt: EXPIRES_AT });
    }
  },

  "a held record is taken over by whoever saw it, and its evidence stays until there is another one": async ({
    store,
  }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf<Write>(recordKey, { state: "held", evidence: EVIDENCE }));
    await takenOver(store, recordKey);
    assertRecord(await found(store, recordKey), { state: "in-progress", attempt: 2, evidence: EVIDENCE });

    await store.settle(releaseOf<Write>(recordKey, { token: "token-2" }));
    assertRecord(await found(store, recordKey), { state: "released", evidence: EVIDENCE });

    await takenOver(store, recordKey, { token: "token-3", attempt: 3 });
    await store.settle(settlementOf<Write>(recordKey, { token: "token-3", evidence: OTHER }));
    assertRecord(await found(store, recordKey), { state: "completed", evidence: OTHER });
  },

  "nothing is left of the evidence of a record that is expired": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf<Write>(recordKey, { evidence: EVIDENCE }));
    const [createdAt, leaseEndsAt] = [AFTER_EXPIRY, AFTER_EXPIRY + AFTER_LEASE];
    const anew = { createdAt, leaseEndsAt, expiresAt: EXPIRES_AT * 2, keepsSteps: false };

    await won(store, takeOverOf(recordKey, anew), await found(store, recordKey));

    assertRecord(await found(store, recordKey), { token: "token-2", attempt: 2, evidence: undefined });
  },
});
