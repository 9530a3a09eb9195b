/** Reading records, and results of every size. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { IdempotencyRecord } from "../../core/record.ts";
import type { Store } from "../../core/store.ts";
import {
  AFTER_EXPIRY,
  type Cases,
  claimOf,
  found,
  freshRecordKey,
  insertionOf,
  refused,
  settlementOf,
  takenOver,
  takeOverOf,
  unsettled,
  won,
} from "./given.ts";

export const KB = 1024;

/** JSON text of `bytes` bytes that does not compress well, the same for the same seed. */
export function textOf(bytes: number, seed: string): string {
  let filler = "ä";
  for (let block = 0; filler.length < bytes; block++) {
    filler += createHash("sha512").update(`${seed}:${block}`).digest("base64url");
  }
  return JSON.stringify(filler.slice(0, bytes - 3));
}

/** The text of a result that must be kept, wherever the store put the result. */
async function textIn<Write>(
  store: Store<Write>,
  { result }: IdempotencyRecord,
): Promise<string | undefined> {
  assert.ok(result !== undefined, "the store must return the result");
  assert.notEqual(result.in, "nowhere", "the result must be kept");
  if (result.in === "item") return store.loadResult(result.address);
  assert.ok(result.in === "record");
  return result.text;
}

const keeps =
  <Write>(bytes: number, seed: string, write: "settle" | "insert"): Cases<Write>[string] =>
  async ({ store }) => {
    const recordKey = freshRecordKey();
    const result = textOf(bytes, seed);

    if (write === "settle") await won(store, claimOf(recordKey));
    const answer =
      write === "settle"
        ? await store.settle(settlementOf(recordKey, { result }))
        : await store.insert(insertionOf(recordKey, { result }));

    assert.deepEqual(answer, { settled: true });
    assert.equal(await textIn(store, await found(store, recordKey)), result);
    const record = await refused(store, takeOverOf(recordKey));
    assert.ok(record !== undefined);
    assert.equal(await textIn(store, record), result);
  };

export const resultCases = <Write>(): Cases<Write> => ({
  "find answers undefined for a key that was never used": async ({ store }) => {
    assert.equal(await store.find(freshRecordKey(), { consistent: true }), undefined);
    assert.equal(await store.find(freshRecordKey(), { consistent: false }), undefined);
  },

  "find reads a record whatever its age": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf(recordKey, { now: AFTER_EXPIRY, expiresAt: 1 }));

    assert.equal((await store.find(recordKey, { consistent: true }))?.expiresAt, 1);
  },

  "loadResult answers undefined for an item that is not there": async ({ store }) => {
    assert.equal(await store.loadResult(freshRecordKey()), undefined);
  },

  "settle keeps a result of 300 bytes": keeps(300, "settle-300", "settle"),
  "settle keeps a result of 4 KB": keeps(4 * KB, "settle-4k", "settle"),
  "settle keeps a result of 40 KB": keeps(40 * KB, "settle-40k", "settle"),
  "settle keeps a result of 300 KB": keeps(300 * KB, "settle-300k", "settle"),
  "insert keeps a result of 40 KB": keeps(40 * KB, "insert-40k", "insert"),
  "insert keeps a result of 300 KB": keeps(300 * KB, "insert-300k", "insert"),

  "settle and insert of a result of 1 MB succeed, and keep it whole or say how large it was": async ({
    store,
  }) => {
    const [settled, inserted] = [freshRecordKey(), freshRecordKey()];
    const text = textOf(1024 * KB, "1m");
    await won(store, claimOf(settled));

    await store.settle(settlementOf(settled, { result: text }));
    await store.insert(insertionOf(inserted, { result: text }));

    for (const recordKey of [settled, inserted]) {
      const record = await found(store, recordKey);
      assert.equal(record.state, "completed");
      if (record.result?.in === "nowhere") assert.equal(record.result.bytes, Buffer.byteLength(text));
      else assert.equal(await textIn(store, record), text);
    }
  },

  "a large result of a token that lost its claim leaves the winner's large result alone": async ({
    store,
  }) => {
    const recordKey = freshRecordKey();
    const result = textOf(40 * KB, "winner");
    await won(store, claimOf(recordKey));
    await takenOver(store, recordKey);
    await store.settle(settlementOf(recordKey, { token: "token-2", result }));

    const record = unsettled(
      await store.settle(settlementOf(recordKey, { result: textOf(40 * KB, "loser") })),
    );

    assert.ok(record !== undefined);
    assert.equal(await textIn(store, record), result);
  },

  "settle with a large result again by the same token counts as settled": async ({ store }) => {
    const recordKey = freshRecordKey();
    const settlement = settlementOf<Write>(recordKey, { result: textOf(40 * KB, "again") });
    await won(store, claimOf(recordKey));
    await store.settle(settlement);

    assert.deepEqual(await store.settle(settlement), { settled: true });
    assert.equal(await textIn(store, await found(store, recordKey)), settlement.result);
  },
});
