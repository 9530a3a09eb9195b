/** How step results are kept, and what a store answers if it has no room for one. */
import assert from "node:assert/strict";
import type { StoredResult } from "../../core/record.ts";
import type { StepChange } from "../../core/store.ts";
import { type Cases, found, NOW } from "./given.ts";
import { KB, textOf } from "./results.ts";
import { claimed, DONE, settled, stepOf, type WithSteps, withSteps } from "./steps-given.ts";

/** Writes a step and a copy of it: the result is kept whole, or both answers report its size. */
async function writeTwice<Write>(
  store: WithSteps<Write>,
  change: StepChange<Write>,
): Promise<StoredResult | undefined> {
  const answers = [await store.writeStep(change), await store.writeStep(change)];

  const stored = (await found(store, change.recordKey)).steps?.[change.name]?.result;
  const lostBytes = stored?.in === "nowhere" ? Buffer.byteLength(`${change.result}`) : undefined;
  if (stored?.in === "nowhere") assert.equal(stored.bytes, lostBytes);
  for (const answer of answers) assert.equal(settled(answer).lostBytes, lostBytes);
  if (stored?.in === "item") assert.equal(await store.loadResult(stored.address), change.result);
  return stored;
}

export const stepResultCases = <Write>(): Cases<Write> => ({
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

    const stored = await writeTwice(store, change);

    assert.ok(stored && stored.in !== "record", "the result is too large for the record");
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
      await writeTwice(store, stepOf(recordKey, { name: `${index}`, step, result, isFirst: index === 0 }));
    }
    assert.deepEqual((await found(store, recordKey)).steps?.[5]?.result, { in: "record", text: last });
  },
});
