/** A finished record that is inserted without a claim: the optimistic way to run. */
import assert from "node:assert/strict";
import { RECORD_VERSION } from "../../contract.ts";
import { isRefusedCondition } from "../../core/error-code.ts";
import { classify } from "../../core/record.ts";
import {
  assertRecord,
  type Cases,
  claimOf,
  EXPIRES_AT,
  found,
  freshName,
  freshRecordKey,
  insertionOf,
  NOW,
  releaseOf,
  unsettled,
  withCode,
  won,
} from "./given.ts";

export type Subject<Write> = Parameters<Cases<Write>[string]>[0];

/** Inserts with one write; returns whether both were applied or neither. */
export async function insertCounting<Write>(
  { store, countUp, readCount }: Subject<Write>,
  recordKey: string,
  change: Partial<ReturnType<typeof insertionOf<Write>>> = {},
  seen?: Parameters<typeof store.insert>[1],
) {
  const name = freshName();
  const answer = await store.insert(insertionOf(recordKey, { writes: [countUp(name)], ...change }), seen);
  assert.equal(await readCount(name), answer.settled ? 1 : 0, "the writes must go with the record");
  return answer;
}

export const other = { token: "token-2", result: '"the other"' } as const;

export const insertionCases = <Write>(): Cases<Write> => ({
  ...Object.fromEntries(
    (["completed", "failed"] as const).map((state) => [
      `insert makes a ${state} record where there is none, together with the writes`,
      async (subject: Subject<Write>) => {
        const recordKey = freshRecordKey();

        const answer = await insertCounting(subject, recordKey, { state });

        assert.deepEqual(answer, { settled: true });
        assertRecord(await found(subject.store, recordKey), {
          version: RECORD_VERSION,
          state,
          token: "token-1",
          attempt: 1,
          fingerprint: "fingerprint-1",
          steps: undefined,
          result: { in: "record", text: '{"answer":1}' },
          createdAt: NOW,
          completedAt: NOW,
          expiresAt: EXPIRES_AT,
        });
      },
    ]),
  ),

  "insert without writes makes the record as well": async ({ store }) => {
    const recordKey = freshRecordKey();

    assert.deepEqual(await store.insert(insertionOf(recordKey)), { settled: true });
    assertRecord(await found(store, recordKey), { state: "completed", token: "token-1" });
  },

  "insert again by the same token counts as settled and applies nothing twice": async ({
    store,
    countUp,
    readCount,
  }) => {
    for (const condition of [undefined, "onlyFirst"] as const) {
      const recordKey = freshRecordKey();
      const name = freshName();
      const insertion = insertionOf(recordKey, { writes: [countUp(name, condition)] });
      await store.insert(insertion);

      assert.deepEqual(await store.insert(insertion), { settled: true });
      assert.equal(await readCount(name), 1);
    }
  },

  "insert is refused by another attempt's finished record, and returns that record": async (subject) => {
    for (const state of ["completed", "failed"] as const) {
      const recordKey = freshRecordKey();
      await subject.store.insert(insertionOf(recordKey, { ...other, state }));

      const record = unsettled(await insertCounting(subject, recordKey));

      assertRecord(record, { state, token: "token-2", result: { in: "record", text: '"the other"' } });
      assert.deepEqual(await found(subject.store, recordKey), record);
    }
  },

  "insert returns another attempt's record before it reports a condition of the writes": async ({
    store,
    countUp,
  }) => {
    const recordKey = freshRecordKey();
    const writes = [countUp(freshName(), "onlyFirst")];
    await store.insert(insertionOf(recordKey, { ...other, writes }));

    const record = unsettled(await store.insert(insertionOf(recordKey, { writes })));

    assertRecord(record, { state: "completed", token: "token-2" });
  },

  "insert with a refused condition inserts nothing and names the write": async ({
    store,
    countUp,
    readCount,
  }) => {
    const recordKey = freshRecordKey();
    const [taken, free] = [freshName(), freshName()];
    await store.insert(insertionOf(freshRecordKey(), { writes: [countUp(taken)] }));

    await assert.rejects(
      store.insert(insertionOf(recordKey, { writes: [countUp(taken, "onlyFirst"), countUp(free)] })),
      (error) => isRefusedCondition(error) && error.index === 0,
    );

    assert.equal(await store.find(recordKey, { consistent: true }), undefined);
    assert.deepEqual([await readCount(taken), await readCount(free)], [1, 0]);
  },

  "insert is refused by another attempt's live claim, and allowed by its own": async (subject) => {
    const recordKey = freshRecordKey();
    await won(subject.store, claimOf(recordKey));

    const record = unsettled(await insertCounting(subject, recordKey, other));
    assertRecord(record, { state: "in-progress", token: "token-1" });

    assert.deepEqual(await insertCounting(subject, recordKey), { settled: true });
    assertRecord(await found(subject.store, recordKey), { state: "completed", token: "token-1", attempt: 1 });
  },

  "insert fails closed on a record of another version": async ({ store, alter }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(releaseOf(recordKey));
    await alter(recordKey, { version: RECORD_VERSION + 1 });
    const insertion = insertionOf<Write>(recordKey, other);

    await assert.rejects(async () => {
      const record = unsettled(await store.insert(insertion));
      assert.ok(record !== undefined);
      classify(record, { token: "token-2", fingerprints: ["fingerprint-1"], now: NOW });
    }, withCode("RECORD_CORRUPT"));
  },
});
