/** Insertions over an earlier attempt: a claim, a release, a held outcome, an expired record. */
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
  STEPS,
  settlementOf,
  unsettled,
  won,
} from "./given.ts";
import { insertCounting, other, type Subject } from "./insertions.ts";

const over = { ...other, attempt: 2, keepsSteps: true } as const;

export const insertionOverCases = <Write>(): Cases<Write> => ({
  "insert replaces a record that still is what was seen, and fences its worker": async (subject) => {
    const { store } = subject;
    const [running, released] = [freshRecordKey(), freshRecordKey()];
    for (const recordKey of [running, released]) await won(store, claimOf(recordKey));
    await store.settle(releaseOf(released));

    for (const recordKey of [running, released]) {
      const seen = await found(store, recordKey);
      const change = { ...over, now: AFTER_LEASE, fingerprint: "fingerprint-2" };
      assert.deepEqual(await insertCounting(subject, recordKey, change, seen), { settled: true });

      assertRecord(await found(store, recordKey), {
        state: "completed",
        token: "token-2",
        attempt: 2,
        fingerprint: "fingerprint-2",
        completedAt: AFTER_LEASE,
      });
      assertRecord(unsettled(await store.settle(settlementOf(recordKey))), { token: "token-2" });
    }
  },

  "insert is refused by a record that is not what was seen, and carries it": async (subject) => {
    const { store } = subject;
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const seen = await found(store, recordKey);
    await store.settle(releaseOf(recordKey));

    for (const stale of [undefined, seen, { ...seen, state: "released", token: "token-0" } as const]) {
      const record = unsettled(await insertCounting(subject, recordKey, over, stale));
      assertRecord(record, { state: "released", token: "token-1" });
    }
  },

  "insert keeps the steps of the attempt before only where it says so": async (subject) => {
    const { store, alter } = subject;
    for (const keepsSteps of [true, false]) {
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey));
      await alter(recordKey, { steps: STEPS });

      await insertCounting(subject, recordKey, { ...over, keepsSteps }, await found(store, recordKey));

      assertRecord(await found(store, recordKey), { steps: keepsSteps ? STEPS : undefined });
    }
  },

  "insert over a finished record leaves nothing of its result, its steps and its evidence": async (
    subject,
  ) => {
    const { store, alter } = subject;
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await alter(recordKey, { steps: STEPS });
    await store.settle(settlementOf(recordKey, { result: '"former"', evidence: "former" }));

    const change = { ...other, attempt: 2, result: '"latter"', evidence: "latter" };
    const seen = await found(store, recordKey);
    assert.deepEqual(await insertCounting(subject, recordKey, change, seen), { settled: true });

    assertRecord(await found(store, recordKey), {
      state: "completed",
      token: "token-2",
      attempt: 2,
      steps: undefined,
      result: { in: "record", text: '"latter"' },
      evidence: "latter",
    });
  },

  "insert is refused by a held record": async (subject) => {
    const recordKey = freshRecordKey();
    await won(subject.store, claimOf(recordKey));
    await subject.store.settle(settlementOf(recordKey, { state: "held", result: undefined }));

    const record = unsettled(await insertCounting(subject, recordKey, { ...other, now: AFTER_LEASE }));

    assertRecord(record, { state: "held", token: "token-1" });
  },

  "insert over its own claim, whose response was lost, settles it, and attempt and steps stay": async (
    subject,
  ) => {
    const { store, alter } = subject;
    for (const leaseEndsAt of [AFTER_LEASE, 0]) {
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey, { attempt: 3, leaseEndsAt }));
      await alter(recordKey, { steps: STEPS });

      assert.deepEqual(await insertCounting(subject, recordKey, { now: AFTER_LEASE }), { settled: true });

      const kept = { token: "token-1", attempt: 3, steps: STEPS };
      assertRecord(await found(store, recordKey), { state: "completed", ...kept });
    }
  },

  "insert replaces an expired record that it has seen, and then whole": async (subject) => {
    const { store, alter } = subject;
    const recordKey = freshRecordKey();
    const late = {
      ...other,
      attempt: 2,
      createdAt: AFTER_EXPIRY,
      now: AFTER_EXPIRY,
      expiresAt: EXPIRES_AT + 86_400,
    };
    await store.insert(insertionOf(recordKey));
    await alter(recordKey, { steps: STEPS });

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
/** The repetition of an applied insertion: its writes must not be applied again. */
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
