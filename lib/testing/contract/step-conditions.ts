/** Which step writes are refused: by another attempt, over another step, or late. Neither a claim nor a renewal misses a step. */
import assert from "node:assert/strict";
import type { StepChange } from "../../core/store.ts";
import {
  assertRecord,
  type Cases,
  found,
  freshName,
  LEASE_ENDS_AT,
  NOW,
  refused,
  renewalOf,
  settlementOf,
  takenOver,
  takeOverOf,
  unsettled,
  won,
} from "./given.ts";
import { BEGUN, claimed, DONE, settled, stepOf, withSteps } from "./steps-given.ts";

export const stepConditionCases = <Write>(): Cases<Write> => ({
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

  "renew during a step shortens no lease": async ({ store }) => {
    if (!withSteps(store)) return;
    const recordKey = await claimed(store);
    await store.renew(renewalOf(recordKey));
    await store.writeStep(stepOf(recordKey));

    assertRecord(await found(store, recordKey), { leaseEndsAt: LEASE_ENDS_AT + 10_001 });
  },
});
