/** How senders work on a commit: they take it, store its progress, and leave notes for each other. */
import assert from "node:assert/strict";
import {
  type MessageProgress,
  type Outbox,
  type Taken,
  type Taking,
  UNTRIED,
  type Unsent,
} from "../../core/messages/outbox.ts";
import type { StoredMessage } from "../../core/messages/outgoing-message.ts";
import type { Store } from "../../core/store.ts";
import {
  assertRecord,
  type Cases,
  EXPIRES_AT,
  found,
  freshName,
  freshRecordKey,
  insertionOf,
  NOW,
} from "./given.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";
const messageOf = (key: string): StoredMessage => ({ queue: QUEUE, key, group: "order", body: "{}" });
const TWO = [messageOf("order/created"), messageOf("order/paid")];

const NEXT = NOW + 1000;
const UNTIL = NOW + 60_000;
const SENT: MessageProgress = { state: "sent", tries: 1, at: NEXT, to: "queue/payments.fifo" };
const FAILED: MessageProgress = { state: "waiting", tries: 1, at: NEXT, code: "QueueDoesNotExist" };
const PARKED: MessageProgress = { state: "parked", tries: 3, at: NEXT, code: "QueueDoesNotExist" };

const SWEEPER = { by: "sweeper", id: "sweeper-1", now: NEXT, until: UNTIL } as const;
const OTHER_SWEEPER = { ...SWEEPER, id: "sweeper-2" } as const;
const RELAY = { by: "relay", id: "relay-1", now: NEXT, until: UNTIL } as const;
const OTHER_RELAY = { ...RELAY, id: "relay-2" } as const;

async function committed<Write>(store: Store<Write>, messages = TWO): Promise<string> {
  const recordKey = freshRecordKey();
  await store.insert(insertionOf<Write>(recordKey, { messages, now: NOW }));
  return recordKey;
}

async function loaded(outbox: Outbox, recordKey: string): Promise<Unsent> {
  const unsent = await outbox.load(recordKey);
  assert.ok(unsent !== undefined, "the messages must be there");
  return unsent;
}

async function taken(outbox: Outbox, recordKey: string, taking: Taking): Promise<Unsent> {
  const answer = await outbox.take(recordKey, taking);
  assert.equal(answer.state, "taken", `${taking.by} ${taking.id} must get the commit`);
  return (answer as Extract<Taken, { state: "taken" }>).unsent;
}

/** The states that result from taking a commit several times in order. */
async function statesOf(outbox: Outbox, recordKey: string, ...takings: readonly Taking[]): Promise<string[]> {
  const states: string[] = [];
  for (const taking of takings) states.push((await outbox.take(recordKey, taking)).state);
  return states;
}

async function isIn(outbox: Outbox, shard: number, recordKey: string, before = UNTIL): Promise<boolean> {
  for await (const page of outbox.findUnsent(shard, before)) {
    if (page.some((each) => each.recordKey === recordKey)) return true;
  }
  return false;
}

export const senderCases = <Write>(): Cases<Write> => ({
  "a commit is taken with all of its messages, and held for others until that time is over": async ({
    store,
    outbox,
  }) => {
    const recordKey = await committed(store);

    const { token, committedAt, messages, dueAt } = await taken(outbox, recordKey, SWEEPER);

    assert.deepEqual({ token, committedAt, dueAt }, { token: "token-1", committedAt: NOW, dueAt: NOW });
    assert.deepEqual(messages, TWO);
    assert.deepEqual(
      await statesOf(outbox, recordKey, OTHER_SWEEPER, RELAY, { ...OTHER_SWEEPER, now: UNTIL - 1 }),
      ["held", "held", "held"],
    );
    const later = { ...OTHER_SWEEPER, now: UNTIL, until: UNTIL + 1000 };
    assert.deepEqual(await statesOf(outbox, recordKey, later, { ...SWEEPER, now: UNTIL }), ["taken", "held"]);
  },

  "taking the same again, because an answer was lost, is taken": async ({ store, outbox }) => {
    const recordKey = await committed(store);

    assert.deepEqual(await statesOf(outbox, recordKey, SWEEPER, SWEEPER), ["taken", "taken"]);
    assert.deepEqual((await taken(outbox, recordKey, SWEEPER)).messages, TWO);
  },

  "only a relay may take what a relay has, since a stream gives one commit to one relay at a time": async ({
    store,
    outbox,
  }) => {
    const recordKey = await committed(store);

    assert.deepEqual(await statesOf(outbox, recordKey, RELAY, SWEEPER, OTHER_RELAY, SWEEPER), [
      "taken",
      "held",
      "taken",
      "held",
    ]);
  },

  "a commit that is not due, or has another place by now, is held": async ({ store, outbox }) => {
    const recordKey = await committed(store);
    await outbox.keep(await taken(outbox, recordKey, SWEEPER), [SENT, FAILED], NEXT + 500);
    const due = { now: NEXT + 500 };

    assert.deepEqual(
      await statesOf(
        outbox,
        recordKey,
        { ...OTHER_SWEEPER, now: NEXT + 499 },
        { ...OTHER_SWEEPER, ...due, dueAt: NOW },
        { ...OTHER_SWEEPER, ...due, dueAt: NEXT + 500 },
      ),
      ["held", "held", "taken"],
    );
  },

  "the progress of a commit is returned to the sender that loads or takes it, and the commit is found at its new place":
    async ({ store, outbox }) => {
      const recordKey = await committed(store);
      const mine = await taken(outbox, recordKey, SWEEPER);

      await outbox.keep(mine, [SENT, FAILED], NEXT + 500);

      const { progress, dueAt, messages, shard } = await loaded(outbox, recordKey);
      assert.deepEqual(progress, [SENT, FAILED]);
      assert.deepEqual([dueAt, messages, shard], [NEXT + 500, TWO, mine.shard]);
      assert.deepEqual(
        [await isIn(outbox, shard, recordKey, NEXT + 500), await isIn(outbox, shard, recordKey, NEXT + 501)],
        [false, true],
      );
      const again = await taken(outbox, recordKey, { ...OTHER_SWEEPER, now: NEXT + 500 });
      assert.deepEqual(again.progress, [SENT, FAILED]);
    },

  "progress that another sender kept meanwhile stays, and a message that either has sent counts as sent":
    async ({ store, outbox }) => {
      const recordKey = await committed(store, [...TWO, messageOf("order/shipped")]);
      const seen = await loaded(outbox, recordKey);
      const parked = { ...PARKED, tries: 7 };
      await outbox.keep(await taken(outbox, recordKey, SWEEPER), [UNTRIED, SENT, parked], NEXT + 500);

      await outbox.keep(seen, [SENT, FAILED, FAILED], NEXT + 900);

      const { progress, dueAt } = await loaded(outbox, recordKey);
      assert.deepEqual(progress, [SENT, SENT, parked]);
      assert.equal(dueAt, NEXT + 500);
    },

  "what is kept twice, because an answer was lost, is kept once": async ({ store, outbox }) => {
    const recordKey = await committed(store);
    const mine = await taken(outbox, recordKey, SWEEPER);

    await outbox.keep(mine, [SENT, FAILED], NEXT);
    await outbox.keep(mine, [SENT, FAILED], NEXT);

    assert.deepEqual((await loaded(outbox, recordKey)).progress, [SENT, FAILED]);
  },

  "two who have each sent one of two messages have sent the commit": async ({ store, outbox }) => {
    const recordKey = await committed(store);
    const seen = await loaded(outbox, recordKey);
    await outbox.keep(await taken(outbox, recordKey, SWEEPER), [SENT, FAILED], NEXT);

    await outbox.keep(seen, [FAILED, SENT], NEXT);

    assert.equal(await outbox.load(recordKey), undefined);
    assertRecord(await found(store, recordKey), { state: "completed", expiresAt: EXPIRES_AT });
  },

  "nothing is kept under another token, or of what is over": async ({ store, outbox }) => {
    const recordKey = await committed(store);
    const unsent = await loaded(outbox, recordKey);

    await outbox.keep({ ...unsent, token: "token-of-another" }, [SENT, FAILED], NEXT);
    assert.equal((await loaded(outbox, recordKey)).progress, undefined);
    await outbox.markSent(unsent, [SENT, SENT]);
    await outbox.keep(unsent, [SENT, FAILED], NEXT);

    assert.equal(await outbox.load(recordKey), undefined);
    assertRecord(await found(store, recordKey), { expiresAt: EXPIRES_AT });
  },

  "a commit of which the rest is parked leaves the shards, is counted as parked, and does not expire":
    async ({ store, outbox }) => {
      const recordKey = await committed(store);
      const before = await outbox.count();
      const { shard } = await loaded(outbox, recordKey);

      await outbox.keep(await taken(outbox, recordKey, SWEEPER), [SENT, PARKED], NEXT);

      assert.equal(await isIn(outbox, shard, recordKey), false);
      assert.deepEqual(await outbox.count(), { waiting: before.waiting - 1, parked: before.parked + 1 });
      assert.deepEqual(await statesOf(outbox, recordKey, { ...SWEEPER, now: UNTIL }), ["over"]);
      assert.deepEqual((await loaded(outbox, recordKey)).progress, [SENT, PARKED]);
      assertRecord(await found(store, recordKey), { state: "completed", expiresAt: undefined });
    },

  "a commit with waiting and parked messages stays in its shard": async ({ store, outbox }) => {
    const recordKey = await committed(store);
    const mine = await taken(outbox, recordKey, SWEEPER);

    await outbox.keep(mine, [PARKED, FAILED], NEXT);

    assert.equal(await isIn(outbox, mine.shard, recordKey), true);
    assert.deepEqual((await loaded(outbox, recordKey)).progress, [PARKED, FAILED]);
  },

  "a commit that is over, or never existed, can't be taken": async ({ store, outbox }) => {
    const recordKey = await committed(store);
    await outbox.markSent(await loaded(outbox, recordKey));

    assert.deepEqual(await statesOf(outbox, recordKey, SWEEPER, RELAY), ["over", "over"]);
    assert.deepEqual(await statesOf(outbox, freshRecordKey(), SWEEPER, RELAY), ["over", "over"]);
  },

  "a record is parked once, and only where something waits": async ({ store, outbox, remove }) => {
    const recordKey = await committed(store);
    const { shard } = await loaded(outbox, recordKey);

    assert.deepEqual([await outbox.park(recordKey, NEXT), await outbox.park(recordKey, NEXT)], [true, false]);
    assert.equal(await isIn(outbox, shard, recordKey), false);
    assert.deepEqual(await statesOf(outbox, recordKey, SWEEPER), ["over"]);

    const gone = await committed(store);
    await remove(gone);
    assert.deepEqual(
      [await outbox.park(gone, NEXT), await outbox.park(freshRecordKey(), NEXT)],
      [false, false],
    );
  },

  "notes are replaced by a sender that has read the latest ones, and a repetition counts as done": async ({
    outbox,
  }) => {
    const [mine, theirs] = [freshName(), freshName()];
    const former = await outbox.readNotes();

    assert.equal(await outbox.replaceNotes(former, theirs), true);
    assert.equal(await outbox.replaceNotes(former, theirs), true);
    assert.equal(await outbox.replaceNotes(former, mine), false);
    assert.equal(await outbox.readNotes(), theirs);
    assert.equal(await outbox.replaceNotes(theirs, mine), true);
    assert.equal(await outbox.readNotes(), mine);
  },

  "of two who replace the same notes at once one succeeds": async ({ outbox }) => {
    const names = [freshName(), freshName()];
    const former = await outbox.readNotes();

    const replaced = await Promise.all(names.map((notes) => outbox.replaceNotes(former, notes)));

    assert.deepEqual([...replaced].sort(), [false, true]);
    assert.equal(await outbox.readNotes(), names[replaced.indexOf(true)]);
  },

  "one sweep at a time holds the outbox, until its lease ends or it gives the outbox back": async ({
    outbox,
  }) => {
    const leases = async (...all: readonly { id: string; now: number; until: number }[]) => {
      const answers: boolean[] = [];
      for (const lease of all) answers.push(await outbox.leaseSweep(lease));
      return answers;
    };
    const [one, other] = [
      { id: "sweep-1", now: NOW, until: NEXT },
      { id: "sweep-2", now: NOW, until: NEXT },
    ];
    assert.deepEqual(await leases(one, other), [true, false]);
    // A repeated request, or a longer lease.
    assert.deepEqual(await leases(one, { ...one, until: UNTIL }), [true, true]);
    assert.deepEqual(await leases({ ...other, now: NEXT }, { ...one, until: 0 }), [false, true]);
    assert.deepEqual(await leases(other, { ...one, now: NEXT, until: UNTIL }), [true, true]);
    assert.deepEqual(await leases({ ...one, now: NEXT, until: 0 }), [true]);
  },

  "of two senders that take the same commit at the same time one gets it": async ({ store, outbox }) => {
    const recordKey = await committed(store);

    const answers = await Promise.all(
      [SWEEPER, OTHER_SWEEPER].map((taking) => outbox.take(recordKey, taking)),
    );

    assert.deepEqual(answers.map(({ state }) => state).sort(), ["held", "taken"]);
  },
});
