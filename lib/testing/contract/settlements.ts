/** How a claimed record is settled, and that a worker without its claim changes nothing. */
import assert from "node:assert/strict";
import {
  AFTER_LEASE,
  assertRecord,
  type Cases,
  claimOf,
  found,
  freshRecordKey,
  NOW,
  releaseOf,
  settlementOf,
  takenOver,
  unsettled,
  won,
} from "./given.ts";

const STATES = ["completed", "failed", "released", "held"] as const;

const eachState = <Write>(
  title: (state: (typeof STATES)[number]) => string,
  prove: (state: (typeof STATES)[number]) => Cases<Write>[string],
): Cases<Write> => Object.fromEntries(STATES.map((state) => [title(state), prove(state)]));

export const settlementCases = <Write>(): Cases<Write> => ({
  ...eachState<Write>(
    (state) => `settle moves an in-progress record to ${state}`,
    (state) =>
      async ({ store }) => {
        const recordKey = freshRecordKey();
        const result = state === "completed" || state === "failed" ? '{"message":"ä"}' : undefined;
        await won(store, claimOf(recordKey));

        const answer = await store.settle(
          settlementOf(recordKey, { state, result, expiresAt: NOW / 1000 + 99 }),
        );

        assert.deepEqual(answer, { settled: true });
        assertRecord(await found(store, recordKey), {
          state,
          token: "token-1",
          attempt: 1,
          fingerprint: "fingerprint-1",
          result: result === undefined ? undefined : { in: "record", text: result },
          createdAt: NOW,
          expiresAt: NOW / 1000 + 99,
        });
      },
  ),

  ...eachState<Write>(
    (state) => `settle to ${state} again by the same token counts as settled and changes nothing`,
    (state) =>
      async ({ store }) => {
        const recordKey = freshRecordKey();
        const settlement = settlementOf<Write>(recordKey, { state });
        await won(store, claimOf(recordKey));
        await store.settle(settlement);
        const record = await found(store, recordKey);

        assert.deepEqual(await store.settle(settlement), { settled: true });
        assert.deepEqual(await found(store, recordKey), record);
      },
  ),

  ...eachState<Write>(
    (state) => `settle to ${state} by a token that lost its claim changes nothing and returns the record`,
    (state) =>
      async ({ store }) => {
        const recordKey = freshRecordKey();
        await won(store, claimOf(recordKey));
        await takenOver(store, recordKey);
        const before = await found(store, recordKey);

        const record = unsettled(await store.settle(settlementOf(recordKey, { state })));

        assert.deepEqual(record, before);
        assert.deepEqual(await found(store, recordKey), before);
      },
  ),

  ...eachState<Write>(
    (state) => `settle to ${state} by a token that lost its claim leaves the winner's result alone`,
    (state) =>
      async ({ store }) => {
        const recordKey = freshRecordKey();
        await won(store, claimOf(recordKey));
        await takenOver(store, recordKey);
        await store.settle(settlementOf(recordKey, { token: "token-2", result: '"the winner"' }));

        const record = unsettled(await store.settle(settlementOf(recordKey, { state, result: '"late"' })));

        assertRecord(record, {
          state: "completed",
          token: "token-2",
          result: { in: "record", text: '"the winner"' },
        });
        assert.deepEqual(await found(store, recordKey), record);
      },
  ),

  "settle works after the lease as long as no other attempt took over": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));

    const answer = await store.settle(settlementOf(recordKey, { now: AFTER_LEASE + 60_000 }));

    assert.deepEqual(answer, { settled: true });
    assertRecord(await found(store, recordKey), { completedAt: AFTER_LEASE + 60_000 });
  },

  "settle does not move a completed record on, not even by its own token": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf(recordKey));

    for (const state of ["failed", "released", "held"] as const) {
      assertRecord(unsettled(await store.settle(settlementOf(recordKey, { state }))), { state: "completed" });
    }

    assertRecord(await found(store, recordKey), {
      state: "completed",
      result: { in: "record", text: '{"answer":1}' },
    });
  },

  "settle does not complete what its own token has released": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(releaseOf(recordKey));

    assertRecord(unsettled(await store.settle(settlementOf(recordKey))), { state: "released" });
  },

  "settle of a record that is gone is refused without a record and creates none": async ({
    store,
    remove,
  }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await remove(recordKey);

    assert.equal(unsettled(await store.settle(settlementOf(recordKey))), undefined);
    assert.equal(await store.find(recordKey, { consistent: true }), undefined);
  },

  "settle keeps a result that is absent absent, and one that is null null": async ({ store }) => {
    const [absent, empty] = [freshRecordKey(), freshRecordKey()];
    await won(store, claimOf(absent));
    await won(store, claimOf(empty));

    await store.settle(settlementOf(absent, { result: undefined }));
    await store.settle(settlementOf(empty, { result: "null" }));

    assertRecord(await found(store, absent), { result: undefined });
    assertRecord(await found(store, empty), { result: { in: "record", text: "null" } });
  },
});
