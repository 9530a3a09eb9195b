/** Concurrent calls: exactly one wins, and all others get the winner's record. */
import assert from "node:assert/strict";
import type { Claim, Store } from "../../core/store.ts";
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
  settlementOf,
  takeOverOf,
  untilAnswered,
  won,
} from "./given.ts";

const RACERS = Array.from({ length: 16 }, (_, index) => `racer-${index}`);

/** Exactly one of the racers wins; the others get the winner's record. */
async function race<Write>(
  store: Store<Write>,
  claims: readonly Claim[],
  seen?: Parameters<typeof store.claim>[1],
) {
  const answers = await Promise.all(claims.map((claim) => untilAnswered(() => store.claim(claim, seen))));
  const winners = claims.filter((_, index) => answers[index]?.won);
  assert.equal(winners.length, 1, "exactly one claim must win");
  const token = winners[0]?.token;
  for (const answer of answers) if (!answer.won) assertRecord(answer.record, { token });
  return token;
}

export const raceCases = <Write>(): Cases<Write> => ({
  "of many simultaneous claims exactly one wins, and the others get the winner's record": async ({
    store,
  }) => {
    const recordKey = freshRecordKey();

    const winner = await race(
      store,
      RACERS.map((token) => claimOf(recordKey, { token })),
    );

    assertRecord(await found(store, recordKey), { token: winner, attempt: 1 });
  },

  "of many take-overs at once exactly one wins": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));

    const winner = await race(
      store,
      RACERS.map((token) => takeOverOf(recordKey, { token })),
      await found(store, recordKey),
    );

    assertRecord(await found(store, recordKey), { token: winner, attempt: 2 });
  },

  "of many claims of one expired record at once exactly one wins": async ({ store }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf(recordKey));
    const expired = await found(store, recordKey);
    const late = {
      attempt: 2,
      createdAt: AFTER_EXPIRY,
      leaseEndsAt: AFTER_EXPIRY + 30_000,
      expiresAt: EXPIRES_AT + 86_400,
    };

    const winner = await race(
      store,
      RACERS.map((token) => claimOf(recordKey, { ...late, token })),
      expired,
    );

    assertRecord(await found(store, recordKey), { token: winner, attempt: 2 });
  },

  "of many simultaneous insertions exactly one is applied, and the others get its record": async ({
    store,
    countUp,
    readCount,
  }) => {
    const recordKey = freshRecordKey();
    const name = freshName();

    const answers = await Promise.all(
      RACERS.map((token) =>
        untilAnswered(() =>
          store.insert(
            insertionOf(recordKey, { token, result: JSON.stringify(token), writes: [countUp(name)] }),
          ),
        ),
      ),
    );

    const record = await found(store, recordKey);
    assert.equal(answers.filter(({ settled }) => settled).length, 1);
    assert.equal(await readCount(name), 1);
    for (const answer of answers) if (!answer.settled) assert.deepEqual(answer.record, record);
  },

  "a late completion and a take-over at once: the one that came first wins, never both": async ({
    store,
    countUp,
    readCount,
  }) => {
    for (let round = 0; round < 8; round++) {
      const recordKey = freshRecordKey();
      const name = freshName();
      await won(store, claimOf(recordKey));

      const seen = await found(store, recordKey);
      const settlement = settlementOf(recordKey, { now: AFTER_LEASE, writes: [countUp(name)] });
      const [settled, claimed] = await Promise.all([
        untilAnswered(() => store.settle(settlement)),
        untilAnswered(() => store.claim(takeOverOf(recordKey), seen)),
      ]);

      assert.notEqual(settled.settled, claimed.won);
      assert.equal(await readCount(name), settled.settled ? 1 : 0);
    }
  },
});
