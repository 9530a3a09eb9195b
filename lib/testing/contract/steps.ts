/** How steps are written under a claim, and how long they stay in its record. */
import assert from "node:assert/strict";
import { RECORD_VERSION, STEPS_VERSION } from "../../contract.ts";
import {
  assertRecord,
  type Cases,
  EXPIRES_AT,
  found,
  freshName,
  LEASE_ENDS_AT,
  settlementOf,
  takenOver,
  withCode,
} from "./given.ts";
import { claimed, DONE, settled, stepOf, withSteps } from "./steps-given.ts";

export const stepCases = <Write>(): Cases<Write> => ({
  "writeStep writes one step after the other, and each moves the end of the lease": async ({ store }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);

    settled(await store.writeStep(stepOf(recordKey, { result: '{"id":"ch_1"}' })));
    const second = stepOf<Write>(recordKey, { name: "tell <b>", isFirst: false });
    settled(await store.writeStep(second));

    assertRecord(await found(store, recordKey), {
      state: "in-progress",
      token: "token-1",
      steps: { charge: { ...DONE, result: { in: "record", text: '{"id":"ch_1"}' } }, "tell <b>": DONE },
      leaseEndsAt: LEASE_ENDS_AT + 2,
      expiresAt: EXPIRES_AT,
    });
  },

  "writeStep again counts as written": async ({ store, countUp, readCount }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);
    const name = freshName();
    const change = stepOf(recordKey, { writes: [countUp(name, "onlyFirst")] });

    settled(await store.writeStep(change));
    settled(await store.writeStep(change));

    assert.equal(await readCount(name), 1);
    assertRecord(await found(store, recordKey), { leaseEndsAt: LEASE_ENDS_AT + 1 });
  },

  "writeStep writes nothing where a condition of the writes is not met": async ({
    store,
    countUp,
    readCount,
  }) => {
    if (!withSteps(store)) return;
    const [recordKey, other] = [await claimed(store), await claimed(store)];
    const name = freshName();
    await store.writeStep(stepOf(other, { writes: [countUp(name)] }));

    await assert.rejects(
      store.writeStep(stepOf(recordKey, { writes: [countUp(name, "onlyFirst")] })),
      withCode("TRANSACTION_CONDITION"),
    );

    assert.equal(await readCount(name), 1);
    assertRecord(await found(store, recordKey), { steps: undefined, leaseEndsAt: LEASE_ENDS_AT });
  },

  "a record has the version of its steps from the first one until it loses them": async ({ store }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);
    const isOf = async (version: number, why: string) =>
      assert.equal((await found(store, recordKey))?.version, version, why);

    await isOf(RECORD_VERSION, "a claim has no steps");
    settled(await store.writeStep(stepOf(recordKey)));
    await isOf(STEPS_VERSION, "former code must refuse a record with steps");
    settled(await store.writeStep(stepOf<Write>(recordKey, { name: "mail", isFirst: false })));
    await store.settle(settlementOf(recordKey, { state: "released" }));
    await isOf(STEPS_VERSION, "a released record has its steps");
    await takenOver(store, recordKey);
    await isOf(STEPS_VERSION, "a claim keeps the steps");
    await store.settle(settlementOf(recordKey, { token: "token-2", state: "completed", dropsSteps: true }));
    await isOf(RECORD_VERSION, "former code may replay a record without steps");
  },

  "a claim that drops the steps of an expired record has the version of a record without any": async ({
    store,
  }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);
    settled(await store.writeStep(stepOf(recordKey)));

    await takenOver(store, recordKey, { keepsSteps: false });

    assert.equal((await found(store, recordKey))?.version, RECORD_VERSION);
  },

  "settle drops the steps where it says so, and keeps them otherwise": async ({ store }) => {
    if (!withSteps(store)) return;
    for (const dropsSteps of [true, false]) {
      const recordKey = await claimed(store);
      await store.writeStep(stepOf(recordKey));
      await store.settle(settlementOf(recordKey, { dropsSteps }));

      assertRecord(await found(store, recordKey), {
        state: "completed",
        steps: dropsSteps ? undefined : { charge: DONE },
      });
    }
  },
});
