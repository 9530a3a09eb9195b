/** Finished records that a person changes: an earlier decision is corrected, or the key runs again. */
import assert from "node:assert/strict";
import {
  AFTER_LEASE,
  assertRecord,
  type Cases,
  claimOf,
  EXPIRES_AT,
  found,
  freshRecordKey,
  insertionOf,
  releaseOf,
  settlementOf,
  takeOverOf,
  unsettled,
  won,
} from "./given.ts";

const EVIDENCE = '{"verdict":"unknown","by":"ana","at":1,"attempt":1,"asked":"to run the key again"}';

export const reopeningCases = <Write>(): Cases<Write> => ({
  "claim takes over a finished record that still is what was seen, without its result, and releases it":
    async ({ store }) => {
      for (const state of ["completed", "failed"] as const) {
        const recordKey = freshRecordKey();
        await won(store, claimOf(recordKey));
        await store.settle(settlementOf<Write>(recordKey, { state }));
        const seen = await found(store, recordKey);
        const claim = takeOverOf(recordKey, { expiresAt: undefined, keepsSteps: false });

        await won(store, claim, seen);
        assertRecord(await found(store, recordKey), { state: "in-progress", attempt: 2, result: undefined });
        const released = releaseOf<Write>(recordKey, {
          ...{ token: "token-2", isListed: true, evidence: EVIDENCE, expiresAt: EXPIRES_AT },
        });
        for (const _ of ["first", "repeated"])
          assert.deepEqual(await store.settle(released), { settled: true });

        assertRecord(await found(store, recordKey), { state: "released", evidence: EVIDENCE });
        assert.equal((await store.claim(claim, seen)).won, false, "what was seen is gone");
      }
    },

  "insert replaces a finished record that still is what was seen": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf<Write>(recordKey, { evidence: EVIDENCE }));
    const seen = await found(store, recordKey);
    const correction = insertionOf<Write>(recordKey, {
      ...{ token: "token-2", attempt: 2, now: AFTER_LEASE, result: '{"answer":2}', evidence: EVIDENCE },
    });

    for (const _ of ["first", "repeated"])
      assert.deepEqual(await store.insert(correction, seen), { settled: true });

    const corrected = { state: "completed", token: "token-2", attempt: 2 } as const;
    assertRecord(await found(store, recordKey), {
      ...corrected,
      result: { in: "record", text: '{"answer":2}' },
    });
    assertRecord(unsettled(await store.insert({ ...correction, token: "token-3" }, seen)), corrected);
  },
});
