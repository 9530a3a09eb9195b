/** Which steps keep their record without an expiry, and in the list of unknown outcomes. */
import assert from "node:assert/strict";
import type { Store } from "../../core/store.ts";
import type { UnknownOutcome } from "../../core/unknown-outcome.ts";
import {
  AFTER_LEASE,
  assertRecord,
  type Cases,
  EXPIRES_AT,
  found,
  LEASE_ENDS_AT,
  NOW,
  settlementOf,
  takenOver,
} from "./given.ts";
import { BEGUN, claimed, DONE, stepOf, withSteps } from "./steps-given.ts";

async function listed<Write>(store: Store<Write>, recordKey: string, before: number) {
  const outcomes: UnknownOutcome[] = [];
  for await (const outcome of store.unknownOutcomes?.({ before }) ?? []) {
    if (outcome.recordKey === recordKey) outcomes.push(outcome);
  }
  return outcomes;
}

export const stepListingCases = <Write>(): Cases<Write> => ({
  "writeStep of a step that begins removes the expiry from its record, which is listed until the step ends":
    async ({ store }) => {
      if (!withSteps(store) || !store.unknownOutcomes) return;
      const recordKey = await claimed(store);
      await store.writeStep(stepOf(recordKey, { step: BEGUN }));

      assertRecord(await found(store, recordKey), { expiresAt: undefined });
      assert.deepEqual(await listed(store, recordKey, AFTER_LEASE + 1), [
        { recordKey, state: "abandoned", since: LEASE_ENDS_AT + 1, attempt: 1, steps: ["charge"] },
      ]);
      const done = stepOf<Write>(recordKey, { step: { ...DONE, at: NOW + 1 }, isFirst: false, seen: BEGUN });
      await store.writeStep(done);
      await store.settle(settlementOf(recordKey, { isListed: true }));
      assert.deepEqual(await listed(store, recordKey, AFTER_LEASE + 1), []);
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

    assertRecord(await found(store, recordKey), {
      state: "released",
      expiresAt: undefined,
      steps: { charge: tracked },
    });
    const [first, ...others] = await listed(store, recordKey, AFTER_LEASE + 60_000);
    assert.deepEqual([first?.state, first?.steps, others], ["unfinished", [], []]);
    await takenOver(store, recordKey, { expiresAt: undefined });
    await store.settle(settlementOf(recordKey, { token: "token-2", isListed: true, dropsSteps: true }));
    assert.deepEqual(await listed(store, recordKey, AFTER_LEASE + 60_000), []);
  },
});
