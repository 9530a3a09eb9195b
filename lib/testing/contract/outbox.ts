/** A commit's messages: kept with the record, found until they are marked, and never without the record. */
import assert from "node:assert/strict";
import { OUTBOX_SHARDS } from "../../contract.ts";
import type { Outbox, Unsent } from "../../core/messages/outbox.ts";
import type { StoredMessage } from "../../core/messages/outgoing-message.ts";
import {
  AFTER_LEASE,
  assertRecord,
  type Cases,
  claimOf,
  EXPIRES_AT,
  found,
  freshName,
  freshRecordKey,
  insertionOf,
  NOW,
  refused,
  settlementOf,
  takenOver,
  unsettled,
  withCode,
  won,
} from "./given.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";
const COMMITTED_AT = NOW + 1000;

const messageOf = (key: string, group = key): StoredMessage => ({
  queue: QUEUE,
  key,
  group,
  body: '{"text":"ä \\u0000 \\"quoted\\""}',
});

const TWO = [messageOf("order/created"), messageOf("order/paid")];

/** All waiting commits, shard by shard. */
async function findAll(outbox: Outbox, before: number): Promise<string[]> {
  const found: string[] = [];
  for (let shard = 0; shard < OUTBOX_SHARDS; shard++) {
    for await (const page of outbox.findUnsent(shard, before))
      found.push(...page.map(({ recordKey }) => recordKey));
  }
  return found;
}

async function loaded(outbox: Outbox, recordKey: string): Promise<Unsent> {
  const unsent = await outbox.load(recordKey);
  assert.ok(unsent !== undefined, "the messages must be there");
  return unsent;
}

const BOTH = ["settle", "insert"] as const;

/** Commits messages by either way of finishing. */
const commitsOf =
  <Write>(method: (typeof BOTH)[number]) =>
  async (
    { store }: Parameters<Cases<Write>[string]>[0],
    recordKey: string,
    messages: readonly StoredMessage[],
  ): Promise<void> => {
    if (method === "settle") await won(store, claimOf(recordKey));
    const finish = { messages, now: COMMITTED_AT };
    const answer = await (method === "settle"
      ? store.settle(settlementOf(recordKey, finish))
      : store.insert(insertionOf(recordKey, finish)));
    assert.deepEqual(answer, { settled: true });
  };

const eachMethod = <Write>(
  title: (method: string) => string,
  prove: (commit: ReturnType<typeof commitsOf<Write>>) => Cases<Write>[string],
): Cases<Write> => Object.fromEntries(BOTH.map((method) => [title(method), prove(commitsOf<Write>(method))]));

export const outboxCases = <Write>(): Cases<Write> => ({
  ...eachMethod<Write>(
    (method) =>
      `${method} keeps messages to be sent, in their order, and their record does not expire before`,
    (commit) => async (subject) => {
      const recordKey = freshRecordKey();

      await commit(subject, recordKey, TWO);

      const { committedAt, token, messages } = await loaded(subject.outbox, recordKey);
      assert.deepEqual({ committedAt, token }, { committedAt: COMMITTED_AT, token: "token-1" });
      assert.deepEqual(messages, TWO);
      assertRecord(await found(subject.store, recordKey), { state: "completed", expiresAt: undefined });
      const late = claimOf(recordKey, { token: "token-2" });
      assertRecord(await refused(subject.store, late), { state: "completed", token: "token-1" });
    },
  ),

  ...eachMethod<Write>(
    (method) => `what ${method} left to be sent is found once it is old enough, until it is marked as sent`,
    (commit) => async (subject) => {
      const { store, outbox } = subject;
      const recordKey = freshRecordKey();
      await commit(subject, recordKey, TWO);
      const count = async (before: number) =>
        (await findAll(outbox, before)).filter((each) => each === recordKey).length;
      assert.deepEqual([await count(COMMITTED_AT), await count(COMMITTED_AT + 1)], [0, 1]);

      await outbox.markSent(await loaded(outbox, recordKey));

      assert.equal(await count(COMMITTED_AT + 1), 0);
      assert.equal(await outbox.load(recordKey), undefined);
      assertRecord(await found(store, recordKey), {
        state: "completed",
        token: "token-1",
        expiresAt: EXPIRES_AT,
        result: { in: "record", text: '{"answer":1}' },
      });
    },
  ),

  "a mark under another token, or a second one, changes nothing": async ({ store, outbox }) => {
    const recordKey = freshRecordKey();
    await store.insert(insertionOf(recordKey, { messages: TWO }));
    const unsent = await loaded(outbox, recordKey);

    assert.equal(await outbox.markSent({ ...unsent, token: "token-of-another" }), false);
    assert.deepEqual((await loaded(outbox, recordKey)).messages, TWO);
    assert.equal(await outbox.markSent(unsent), true);
    assert.equal(await outbox.markSent(unsent), false);

    assertRecord(await found(store, recordKey), { expiresAt: EXPIRES_AT });
  },

  "a commit that is repeated after its messages were sent does not send them again": async ({
    store,
    outbox,
  }) => {
    const recordKey = freshRecordKey();
    const settlement = settlementOf<Write>(recordKey, { messages: TWO });
    await won(store, claimOf(recordKey));
    await store.settle(settlement);
    await outbox.markSent(await loaded(outbox, recordKey));

    assert.deepEqual(await store.settle(settlement), { settled: true });

    assert.equal(await outbox.load(recordKey), undefined);
  },

  "the messages of an attempt that lost its claim are not sent": async ({ store, outbox }) => {
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await takenOver(store, recordKey);

    unsettled(await store.settle(settlementOf(recordKey, { messages: TWO, now: AFTER_LEASE + 1 })));

    assert.equal(await outbox.load(recordKey), undefined);
  },

  "a refused write leaves neither record nor messages": async ({ store, outbox, countUp }) => {
    const [recordKey, name] = [freshRecordKey(), freshName()];
    const writes = [countUp(name, "onlyFirst")];
    await store.insert(insertionOf(freshRecordKey(), { writes }));

    await assert.rejects(
      store.insert(insertionOf(recordKey, { writes, messages: TWO })),
      withCode("TRANSACTION_CONDITION"),
    );

    assert.equal(await outbox.load(recordKey), undefined);
    assert.equal(await store.find(recordKey, { consistent: true }), undefined);
  },

  "commits of one message group are found oldest first": async ({ store, outbox }) => {
    const messages = [messageOf("order", freshName())];
    const keys = [freshRecordKey(), freshRecordKey(), freshRecordKey()];
    for (const [index, now] of [NOW + 3, NOW + 1, NOW + 2].entries()) {
      await store.insert(insertionOf(keys[index] as string, { messages, now }));
    }

    const order = (await findAll(outbox, NOW + 10)).filter((each) => keys.includes(each));

    assert.deepEqual(order, [keys[1], keys[2], keys[0]]);
  },

  "a record whose messages were sent after its retention is expired at once": async ({ store, outbox }) => {
    const recordKey = freshRecordKey();
    await store.insert(insertionOf(recordKey, { messages: TWO }));
    await outbox.markSent(await loaded(outbox, recordKey));
    const seen = await found(store, recordKey);

    const late = claimOf(recordKey, { token: "token-2", attempt: 2, expiresAt: EXPIRES_AT * 2 });

    await won(store, late, seen);
    assert.equal(await outbox.load(recordKey), undefined);
  },
});
