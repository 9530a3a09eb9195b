/** How steps are written under a claim, and that no late copy of such a write changes a later one. */
import assert from "node:assert/strict";
import { RECORD_VERSION, STEPS_VERSION } from "../../contract.ts";
import type { StoredResult, StoredStep } from "../../core/record.ts";
import type { SettleAnswer, StepChange, Store } from "../../core/store.ts";
import {
  AFTER_LEASE,
  assertRecord,
  type Cases,
  claimOf,
  EXPIRES_AT,
  found,
  freshName,
  freshRecordKey,
  LEASE_ENDS_AT,
  NOW,
  refused,
  renewalOf,
  settlementOf,
  takenOver,
  takeOverOf,
  unsettled,
  withCode,
  won,
} from "./given.ts";
import { KB, textOf } from "./results.ts";

const DONE: StoredStep = { state: "done", attempt: 1, at: NOW };
const BEGUN: StoredStep = { state: "begun", attempt: 1, at: NOW };

/** The first step of a claim made at NOW. */
function stepOf<Write>(recordKey: string, change: Partial<StepChange<Write>> = {}): StepChange<Write> {
  return {
    recordKey,
    token: "token-1",
    name: "charge",
    step: DONE,
    resultExpiresAt: EXPIRES_AT,
    isFirst: true,
    leaseEndsAt: LEASE_ENDS_AT,
    writes: [],
    ...change,
  };
}

/** A store that has steps; the cases say nothing of others. */
type WithSteps<Write> = Store<Write> & Required<Pick<Store<Write>, "writeStep">>;

function withSteps<Write>(store: Store<Write>): store is WithSteps<Write> {
  return store.writeStep !== undefined;
}

function settled(answer: SettleAnswer) {
  assert.ok(answer.settled, "the step must be written");
  return answer;
}

async function claimed<Write>(store: Store<Write>): Promise<string> {
  const recordKey = freshRecordKey();
  await won(store, claimOf(recordKey));
  return recordKey;
}

export const stepCases = <Write>(): Cases<Write> => ({
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

  "writeStep keeps a large result outside of the record": async ({ store }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);
    const result = JSON.stringify(Array.from({ length: 4000 }, (_, index) => (index * 7919) % 65_521));
    await store.writeStep(stepOf(recordKey, { result }));

    const stored = (await found(store, recordKey)).steps?.charge?.result;
    assert.ok(stored?.in === "item", "the result must be outside of the record");
    assert.equal(await store.loadResult(stored.address), result);
  },

  "writeStep of a result of 1 MB keeps it whole, or answers how large it was": async ({ store }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);
    const change = stepOf<Write>(recordKey, { result: textOf(1024 * KB, "step-1m") });

    // A copy gets the same answer.
    const answers = [await store.writeStep(change), await store.writeStep(change)];

    const stored = (await found(store, recordKey)).steps?.charge?.result;
    const isLost = stored?.in === "nowhere";
    if (isLost) assert.equal(stored.bytes, Buffer.byteLength(`${change.result}`));
    for (const answer of answers) assert.equal(settled(answer).lostBytes, isLost ? stored.bytes : undefined);
    if (stored?.in === "item") assert.equal(await store.loadResult(stored.address), change.result);
    else assert.ok(isLost, "the result is neither in the record");
  },

  "writeStep of large results side by side keeps each whole, or answers how large it was": async ({
    store,
  }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);
    const results = Array.from({ length: 5 }, (_, index) => textOf(300 * KB, `step-${index}`));
    const last = '{"id":"ch_1"}';

    for (const [index, result] of [...results, last].entries()) {
      const step = { ...DONE, at: NOW + index };
      const change = stepOf<Write>(recordKey, { name: `${index}`, step, result, isFirst: index === 0 });
      const answers: SettleAnswer[] = [await store.writeStep(change), await store.writeStep(change)];

      const stored: StoredResult | undefined = (await found(store, recordKey)).steps?.[index]?.result;
      const bytes: number | undefined = stored?.in === "nowhere" ? Buffer.byteLength(result) : undefined;
      if (stored?.in === "nowhere") assert.equal(stored.bytes, bytes);
      for (const answer of answers) assert.equal(settled(answer).lostBytes, bytes);
      if (stored?.in === "item") assert.equal(await store.loadResult(stored.address), result);
    }
    assert.deepEqual((await found(store, recordKey)).steps?.[5]?.result, { in: "record", text: last });
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

  "writeStep by a token that lost its claim writes nothing": async ({ store, countUp, readCount }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);
    const name = freshName();
    await takenOver(store, recordKey);

    const record = unsettled(await store.writeStep(stepOf(recordKey, { writes: [countUp(name)] })));

    assertRecord(record, { state: "in-progress", token: "token-2", steps: undefined });
    assert.equal(await readCount(name), 0);
  },

  "writeStep after the end of the claim writes nothing": async ({ store }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);
    await store.settle(settlementOf(recordKey));

    assertRecord(unsettled(await store.writeStep(stepOf(recordKey))), {
      state: "completed",
      steps: undefined,
    });
  },

  "writeStep is refused where the step is another one than was seen": async ({ store }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);
    await store.writeStep(stepOf(recordKey, { step: BEGUN }));
    const later = { ...DONE, at: NOW + 1 };
    const wrong: readonly Partial<StepChange<Write>>[] = [
      { isFirst: true },
      { isFirst: false },
      { isFirst: false, seen: { ...BEGUN, state: "undone" } },
      { isFirst: false, seen: { ...BEGUN, attempt: 2 } },
      { isFirst: false, seen: { ...BEGUN, at: NOW + 1 } },
    ];
    for (const change of wrong) {
      const record = unsettled(await store.writeStep(stepOf(recordKey, { step: later, ...change })));
      assertRecord(record, { token: "token-1", steps: { charge: BEGUN } });
    }

    await store.writeStep(stepOf(recordKey, { step: later, isFirst: false, seen: BEGUN }));
    assertRecord(await found(store, recordKey), { steps: { charge: later } });
  },

  "a late copy of a step's write changes no later one": async ({ store }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);
    const undone = { ...BEGUN, state: "undone", at: NOW + 1 } as const;
    const again = { ...BEGUN, at: NOW + 2 };
    const copies = [
      stepOf<Write>(recordKey, { step: BEGUN }),
      stepOf<Write>(recordKey, { step: undone, isFirst: false, seen: BEGUN }),
      stepOf<Write>(recordKey, { step: again, isFirst: false, seen: undone }),
    ];
    for (const change of copies) settled(await store.writeStep(change));

    for (const change of copies.slice(0, 2)) unsettled(await store.writeStep(change));

    assertRecord(await found(store, recordKey), { steps: { charge: again } });
  },

  "claim over a record with a step that was not seen is refused": async ({ store }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);
    const seen = await found(store, recordKey);
    await store.writeStep(stepOf(recordKey));

    const record = await refused(store, takeOverOf(recordKey), seen);

    assertRecord(record, { token: "token-1", steps: { charge: DONE } });
    await won(store, takeOverOf(recordKey), record);
    assertRecord(await found(store, recordKey), { token: "token-2", steps: { charge: DONE } });
  },

  "renew beside a step shortens no lease": async ({ store }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);
    await store.renew(renewalOf(recordKey));
    await store.writeStep(stepOf(recordKey));

    assertRecord(await found(store, recordKey), { leaseEndsAt: LEASE_ENDS_AT + 10_001 });
  },

  "writeStep of what begins takes the expiry from its record, which is listed until it ends": async ({
    store,
  }) => {
    if (!withSteps(store) || !store.unknownOutcomes) return;
    const recordKey = await claimed(store);
    await store.writeStep(stepOf(recordKey, { step: BEGUN }));
    const listed = async () => {
      const outcomes: unknown[] = [];
      for await (const outcome of store.unknownOutcomes?.({ before: AFTER_LEASE + 1 }) ?? []) {
        if (outcome.recordKey === recordKey) outcomes.push(outcome);
      }
      return outcomes;
    };

    assertRecord(await found(store, recordKey), { expiresAt: undefined });
    assert.deepEqual(await listed(), [
      { recordKey, state: "abandoned", since: LEASE_ENDS_AT + 1, attempt: 1, steps: ["charge"] },
    ]);
    const done = stepOf<Write>(recordKey, { step: { ...DONE, at: NOW + 1 }, isFirst: false, seen: BEGUN });
    await store.writeStep(done);
    await store.settle(settlementOf(recordKey, { isListed: true }));
    assert.deepEqual(await listed(), []);
    assertRecord(await found(store, recordKey), { expiresAt: EXPIRES_AT });
  },

  "a tracked step keeps its record without an expiry, and listed when it is released": async ({ store }) => {
    if (!withSteps(store) || !store.unknownOutcomes) return;
    const recordKey = await claimed(store);
    const tracked = { ...DONE, tracked: true, next: "tell <b>" } as const;
    await store.writeStep(stepOf(recordKey, { step: tracked }));
    const ending = settlementOf<Write>(recordKey, {
      state: "released",
      result: undefined,
      expiresAt: undefined,
    });
    await store.settle(ending);
    const states = async () => {
      const outcomes: unknown[] = [];
      for await (const outcome of store.unknownOutcomes?.({ before: AFTER_LEASE + 60_000 }) ?? []) {
        if (outcome.recordKey === recordKey) outcomes.push([outcome.state, outcome.steps]);
      }
      return outcomes;
    };

    assertRecord(await found(store, recordKey), {
      state: "released",
      expiresAt: undefined,
      steps: { charge: tracked },
    });
    assert.deepEqual(await states(), [["unfinished", []]]);
    await takenOver(store, recordKey, { expiresAt: undefined });
    await store.settle(settlementOf(recordKey, { token: "token-2", isListed: true, dropsSteps: true }));
    assert.deepEqual(await states(), []);
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
