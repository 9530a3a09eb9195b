/** The caller's own writes: in one transaction with the record, all or nothing, and only once. */
import assert from "node:assert/strict";
import { isRefusedCondition } from "../../core/error-code.ts";
import {
  assertRecord,
  type Cases,
  claimOf,
  found,
  freshName,
  freshRecordKey,
  settlementOf,
  takenOver,
  unsettled,
  untilAnswered,
  withCode,
  won,
} from "./given.ts";

export const writeCases = <Write>(): Cases<Write> => ({
  "settle applies the writes together with the record": async ({ store, countUp, readCount }) => {
    const recordKey = freshRecordKey();
    const [one, two] = [freshName(), freshName()];
    await won(store, claimOf(recordKey));

    const answer = await store.settle(settlementOf(recordKey, { writes: [countUp(one), countUp(two)] }));

    assert.deepEqual(answer, { settled: true });
    assertRecord(await found(store, recordKey), {
      state: "completed",
      result: { in: "record", text: '{"answer":1}' },
    });
    assert.deepEqual([await readCount(one), await readCount(two)], [1, 1]);
  },

  "settle with writes again by the same token counts as settled and applies nothing twice": async ({
    store,
    countUp,
    readCount,
  }) => {
    const recordKey = freshRecordKey();
    const name = freshName();
    const settlement = settlementOf(recordKey, { writes: [countUp(name)] });
    await won(store, claimOf(recordKey));
    await store.settle(settlement);

    assert.deepEqual(await store.settle(settlement), { settled: true });
    assert.equal(await readCount(name), 1);
  },

  "settle again counts as settled although the first time made a condition of the writes untrue": async ({
    store,
    countUp,
    readCount,
  }) => {
    const recordKey = freshRecordKey();
    const name = freshName();
    const settlement = settlementOf(recordKey, { writes: [countUp(name, "onlyFirst")] });
    await won(store, claimOf(recordKey));
    await store.settle(settlement);

    assert.deepEqual(await store.settle(settlement), { settled: true });
    assert.equal(await readCount(name), 1);
  },

  "settle by a token that lost its claim applies no writes": async ({ store, countUp, readCount }) => {
    const recordKey = freshRecordKey();
    const name = freshName();
    await won(store, claimOf(recordKey));
    await takenOver(store, recordKey);

    const record = unsettled(await store.settle(settlementOf(recordKey, { writes: [countUp(name)] })));

    assertRecord(record, { state: "in-progress", token: "token-2" });
    assert.equal(await readCount(name), 0);
  },

  "a lost claim is reported before a condition of the writes": async ({ store, countUp, readCount }) => {
    const recordKey = freshRecordKey();
    const name = freshName();
    const writes = [countUp(name, "onlyFirst")];
    await won(store, claimOf(recordKey));
    await takenOver(store, recordKey);
    await store.settle(settlementOf(recordKey, { token: "token-2", result: '"the winner"', writes }));

    const record = unsettled(await store.settle(settlementOf(recordKey, { writes })));

    assertRecord(record, { token: "token-2", result: { in: "record", text: '"the winner"' } });
    assert.equal(await readCount(name), 1);
  },

  "a refused condition applies nothing, names the write, and leaves the claim as it was": async ({
    store,
    countUp,
    readCount,
  }) => {
    const recordKey = freshRecordKey();
    const [taken, free] = [freshName(), freshName()];
    await won(store, claimOf(freshRecordKey(), { token: "token-0" }));
    const other = freshRecordKey();
    await won(store, claimOf(other));
    await store.settle(settlementOf(other, { writes: [countUp(taken)] }));
    await won(store, claimOf(recordKey));
    const before = await found(store, recordKey);

    await assert.rejects(
      store.settle(settlementOf(recordKey, { writes: [countUp(free), countUp(taken, "onlyFirst")] })),
      (error) => isRefusedCondition(error) && error.index === 1,
    );

    assert.deepEqual(await found(store, recordKey), before);
    assert.deepEqual([await readCount(free), await readCount(taken)], [0, 1]);
  },

  "after a refused condition the same token settles with other writes": async ({
    store,
    countUp,
    readCount,
  }) => {
    const recordKey = freshRecordKey();
    const [taken, free] = [freshName(), freshName()];
    const other = freshRecordKey();
    await won(store, claimOf(other));
    await store.settle(settlementOf(other, { writes: [countUp(taken)] }));
    await won(store, claimOf(recordKey));
    await assert.rejects(
      store.settle(settlementOf(recordKey, { writes: [countUp(taken, "onlyFirst")] })),
      withCode("TRANSACTION_CONDITION"),
    );

    const answer = await store.settle(settlementOf(recordKey, { writes: [countUp(free, "onlyFirst")] }));

    assert.deepEqual(answer, { settled: true });
    assert.equal(await readCount(free), 1);
  },

  "writes of different records to one item are all applied": async ({ store, countUp, readCount }) => {
    const name = freshName();
    const recordKeys = Array.from({ length: 8 }, freshRecordKey);
    await Promise.all(recordKeys.map((recordKey) => won(store, claimOf(recordKey))));

    const answers = await Promise.all(
      recordKeys.map((recordKey) =>
        untilAnswered(() => store.settle(settlementOf(recordKey, { writes: [countUp(name)] }))),
      ),
    );

    assert.ok(answers.every(({ settled }) => settled));
    assert.equal(await readCount(name), recordKeys.length);
  },

  "checkEffects accepts no writes and good writes, and refuses what can never be accepted": async ({
    store,
    countUp,
    unacceptableWrites,
  }) => {
    store.checkEffects({ writes: [], messages: [] });
    store.checkEffects({ writes: [countUp(freshName()), countUp(freshName(), "onlyFirst")], messages: [] });

    assert.ok(unacceptableWrites.length > 0, "the subject must name unacceptable writes");
    for (const writes of unacceptableWrites) {
      assert.throws(() => store.checkEffects({ writes, messages: [] }), withCode("COMMIT_INVALID"));
    }
  },
});
