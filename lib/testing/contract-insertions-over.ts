/** Insertions over what a former attempt left: a claim, a release, a held outcome, an expired record. */
import assert from "node:assert/strict";
import {
  AFTER_EXPIRY,
  AFTER_LEASE,
  assertRecord,
  type Cases,
  claimOf,
  EXPIRES_AT,
  found,
  freshName,
  freshRecordKey,
  insertionOf,
  releaseOf,
  settlementOf,
  unsettled,
  won,
} from "./contract-given.ts";
import { insertCounting, other, type Subject } from "./contract-insertions.ts";

export const insertionOverCases = <Write>(): Cases<Write> => ({
  "insert replaces a claim whose lease has ended, and fences its worker": async (subject) => {
    const { store } = subject;
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));

    const answer = await insertCounting(subject, recordKey, { ...other, now: AFTER_LEASE });

    assert.deepEqual(answer, { settled: true });
    assertRecord(await found(store, recordKey), { state: "completed", token: "token-2", attempt: 2 });
    assertRecord(unsettled(await store.settle(settlementOf(recordKey))), { token: "token-2" });
  },

  "insert does not replace an ended lease with another fingerprint": async (subject) => {
    const recordKey = freshRecordKey();
    await won(subject.store, claimOf(recordKey));

    const change = { ...other, now: AFTER_LEASE, fingerprints: ["fingerprint-2"] };
    assertRecord(unsettled(await insertCounting(subject, recordKey, change)), { token: "token-1" });
  },

  "insert finishes a released record, with another fingerprint only when it has no steps": async (
    subject,
  ) => {
    const { store, alter } = subject;
    const mended = { ...other, fingerprints: ["fingerprint-2"] };
    const [plain, stepped] = [freshRecordKey(), freshRecordKey()];
    for (const recordKey of [plain, stepped]) {
      await won(store, claimOf(recordKey));
      await store.settle(releaseOf(recordKey));
    }
    await alter(stepped, { steps: { charge: 1 } });

    assert.deepEqual(await insertCounting(subject, plain, mended), { settled: true });
    assertRecord(await found(store, plain), { fingerprint: "fingerprint-2", attempt: 2 });
    assertRecord(unsettled(await insertCounting(subject, stepped, mended)), { state: "released" });
  },

  "insert is refused by a held record": async (subject) => {
    const recordKey = freshRecordKey();
    await won(subject.store, claimOf(recordKey));
    await subject.store.settle(settlementOf(recordKey, { state: "held", result: undefined }));

    const record = unsettled(await insertCounting(subject, recordKey, { ...other, now: AFTER_LEASE }));

    assertRecord(record, { state: "held", token: "token-1" });
  },

  "insert replaces an expired record only when it shows it, and then whole": async (subject) => {
    const { store, alter } = subject;
    const recordKey = freshRecordKey();
    const late = { ...other, now: AFTER_EXPIRY, expiresAt: EXPIRES_AT + 86_400 };
    await store.insert(insertionOf(recordKey));
    await alter(recordKey, { steps: { charge: 1 } });

    const expired = unsettled(await insertCounting(subject, recordKey, late));
    assertRecord(expired, { token: "token-1", expiresAt: EXPIRES_AT });
    assert.deepEqual(await insertCounting(subject, recordKey, late, expired), { settled: true });

    assertRecord(await found(store, recordKey), {
      state: "completed",
      token: "token-2",
      attempt: 2,
      steps: undefined,
      result: { in: "record", text: '"the other"' },
      createdAt: AFTER_EXPIRY,
      expiresAt: EXPIRES_AT + 86_400,
    });
    assert.deepEqual(await insertCountingAgain(subject, recordKey, late, expired), { settled: true });
    const third = await insertCounting(subject, recordKey, { ...late, token: "token-3" }, expired);
    assertRecord(unsettled(third), { token: "token-2" });
  },
});
/** The repetition of an insertion that was applied: its writes must not be applied again. */
async function insertCountingAgain<Write>(
  { store, countUp, readCount }: Subject<Write>,
  recordKey: string,
  change: Partial<ReturnType<typeof insertionOf<Write>>>,
  expired: Parameters<typeof store.insert>[1],
) {
  const name = freshName();
  const answer = await store.insert(insertionOf(recordKey, { writes: [countUp(name)], ...change }), expired);
  assert.equal(await readCount(name), 0, "a repetition must not be applied again");
  return answer;
}
