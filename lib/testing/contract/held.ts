/**
 * A record that may be held has no expiry. The evidence of a verdict stays until the next verdict, or until the record
 * expires.
 */
import assert from "node:assert/strict";
import type { Store } from "../../core/store.ts";
import type { UnknownOutcome } from "../../core/unknown-outcome.ts";
import {
  AFTER_EXPIRY,
  AFTER_LEASE,
  assertRecord,
  type Cases,
  claimOf,
  EXPIRES_AT,
  found,
  freshRecordKey,
  LEASE_ENDS_AT,
  NOW,
  releaseOf,
  renewalOf,
  settlementOf,
  takenOver,
  takeOverOf,
  won,
} from "./given.ts";

const EVIDENCE = '{"verdict":"unknown","by":"verify","at":1,"attempt":1,"asked":"GET /charges/ä"}';
const OTHER = '{"verdict":"happened","by":"somebody","at":2,"attempt":1}';

/** The listed entries of one key. A store without a list holds nothing, and is skipped. */
function listing<Write>(store: Store<Write>, recordKey: string) {
  return async (before: number): Promise<UnknownOutcome[]> => {
    const outcomes: UnknownOutcome[] = [];
    for await (const outcome of store.unknownOutcomes?.({ before }) ?? []) {
      if (outcome.recordKey === recordKey) outcomes.push(outcome);
    }
    return outcomes;
  };
}

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

  "a held record is taken over by a claim that saw it, and its evidence stays until there is new evidence":
    async ({ store }) => {
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

  "unknownOutcomes lists a claim without an expiry once its lease has ended, and until it ends": async ({
    store,
  }) => {
    if (!store.unknownOutcomes) return;
    for (const state of ["completed", "failed", "released"] as const) {
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey, { expiresAt: undefined }));
      const listed = listing(store, recordKey);

      assert.deepEqual(await listed(LEASE_ENDS_AT), []);
      assert.deepEqual(await listed(AFTER_LEASE), [
        { recordKey, state: "abandoned", since: LEASE_ENDS_AT, attempt: 1 },
      ]);

      await store.settle(settlementOf<Write>(recordKey, { state, isListed: true, result: undefined }));
      assert.deepEqual(await listed(AFTER_LEASE), []);
    }
  },

  "unknownOutcomes lists no claim that expires, and none over which such a claim was made": async ({
    store,
  }) => {
    const [never, overListed] = [freshRecordKey(), freshRecordKey()];
    await won(store, claimOf(never));
    await won(store, claimOf(overListed, { expiresAt: undefined }));
    await takenOver(store, overListed);

    assert.deepEqual(await listing(store, never)(AFTER_EXPIRY), []);
    assert.deepEqual(await listing(store, overListed)(AFTER_EXPIRY), []);
  },

  "unknownOutcomes goes by the renewed lease": async ({ store }) => {
    if (!store.unknownOutcomes) return;
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey, { expiresAt: undefined }));
    const leaseEndsAt = LEASE_ENDS_AT + 10_000;
    await store.renew(renewalOf(recordKey, { leaseEndsAt, expiresAt: undefined }));
    const listed = listing(store, recordKey);

    assert.deepEqual(await listed(leaseEndsAt), []);
    assert.deepEqual(await listed(leaseEndsAt + 1), [
      { recordKey, state: "abandoned", since: leaseEndsAt, attempt: 1 },
    ]);
  },

  "unknownOutcomes lists what is held, whatever its claim was, with its evidence, until it is taken over and ends":
    async ({ store }) => {
      if (!store.unknownOutcomes) return;
      for (const expiresAt of [undefined, EXPIRES_AT]) {
        const recordKey = freshRecordKey();
        const listed = listing(store, recordKey);
        const held = { state: "held", result: undefined, expiresAt: undefined, evidence: EVIDENCE } as const;
        await won(store, claimOf(recordKey, { expiresAt }));
        await store.settle(settlementOf<Write>(recordKey, { ...held, now: NOW }));

        assert.deepEqual(await listed(NOW), []);
        assert.deepEqual(await listed(NOW + 1), [
          { recordKey, state: "held", since: NOW, attempt: 1, evidence: JSON.parse(EVIDENCE) },
        ]);

        await takenOver(store, recordKey, { expiresAt: undefined });
        assert.deepEqual(await listed(NOW + 1), []);
        await store.settle(settlementOf<Write>(recordKey, { token: "token-2", isListed: true }));
        assert.deepEqual(await listed(AFTER_EXPIRY), []);
      }
    },
});
