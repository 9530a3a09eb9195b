// What an operator sees of an outbox, and which change each act asks the database for. The databases: operated-outbox-given.ts.
import { describe, expect, it } from "vitest";
import { parkedShard } from "../../../lib/contract.ts";
import { RecordCorruptError, StoreUnavailableError } from "../../../lib/core/errors.ts";
import {
  type ChangedCommit,
  type ListedCommit,
  OperatedOutbox,
} from "../../../lib/core/messages/operated-outbox.ts";
import type { MessageProgress, Unsent } from "../../../lib/core/messages/outbox.ts";
import type { StoredMessage } from "../../../lib/core/messages/outgoing-message.ts";

const NOW = 1_800_000_000_000;
const SHARDS = 2;
/** Where parked commits are listed. */
const PARKED_SHARDS = [0, 1].map(parkedShard);
const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";
const OTHER = "https://sqs.eu-central-1.amazonaws.com/123456789012/repaired";
const ana = { by: "ana", why: "ticket 7", clock: { now: () => NOW, sleep: async () => {} } };

const WAITING: MessageProgress = { state: "waiting", tries: 3, at: NOW - 2 };
const PARKED: MessageProgress = { state: "parked", tries: 50, at: NOW - 1, code: "QueueDoesNotExist" };
const SENT: MessageProgress = { state: "sent", tries: 1, at: NOW - 1 };

const message = (key: string, more: object = {}): StoredMessage => ({
  ...{ queue: QUEUE, key, group: "order-7", body: '{"cents":5}' },
  ...more,
});

const commitOf = (more: Partial<Unsent> = {}): Unsent => ({
  recordKey: "order##7",
  token: "t",
  committedAt: NOW - 1000,
  messages: [message("a"), message("b"), message("c")],
  shard: 0,
  dueAt: NOW,
  ...more,
});

class MemoryOutbox extends OperatedOutbox {
  readonly shards = SHARDS;
  readonly decided: [Unsent, ChangedCommit][] = [];
  readonly asked: number[] = [];
  readonly #found: Readonly<Record<number, readonly (Unsent | Error | string)[]>>;

  constructor(found: Readonly<Record<number, readonly (Unsent | Error | string)[]>> = {}) {
    super();
    this.#found = found;
  }

  async load(recordKey: string): Promise<Unsent | undefined> {
    const found = Object.values(this.#found).flat();
    const known = found.find((each) => (each as Unsent).recordKey === recordKey);
    const fault = found[Number(recordKey)];
    if (fault instanceof Error) throw fault;
    return known as Unsent | undefined;
  }

  async *findUnsent(shard: number, before: number) {
    expect(before).toBe(Number.MAX_SAFE_INTEGER);
    this.asked.push(shard);
    const all = Object.values(this.#found).flat();
    for (const each of this.#found[shard] ?? [])
      yield [{ recordKey: (each as Unsent).recordKey ?? `${all.indexOf(each)}`, dueAt: 1 }];
  }

  protected async decide(commit: Unsent, decided: ChangedCommit) {
    this.decided.push([commit, decided]);
    return commit.token === "t";
  }
}

async function listed(outbox: MemoryOutbox, state?: "waiting" | "parked") {
  const all: ListedCommit[] = [];
  for await (const each of outbox.list(state)) all.push(each);
  return all.map(({ recordKey }) => recordKey);
}

/** The one change that an act asked for. */
async function changeBy(act: (outbox: MemoryOutbox) => Promise<boolean>) {
  const outbox = new MemoryOutbox();
  expect(await act(outbox)).toBe(true);
  expect(outbox.decided).toHaveLength(1);
  const [, { progress, messages, evidence }] = outbox.decided[0]!;
  return { progress, messages, acts: JSON.parse(evidence).acts };
}

describe("list", () => {
  const untried = commitOf({ recordKey: "untried" });
  const waiting = commitOf({ recordKey: "waiting", progress: [SENT, WAITING, SENT] });
  const mixed = commitOf({ recordKey: "mixed", progress: [PARKED, WAITING, SENT] });
  const parked = commitOf({ recordKey: "parked", progress: [PARKED, SENT, SENT] });
  const outbox = () => new MemoryOutbox({ 0: [untried, mixed], 1: [waiting], [PARKED_SHARDS[1]!]: [parked] });

  it("shows the commits that have messages in a state, or in either", async () => {
    expect(await listed(outbox())).toEqual(["untried", "mixed", "waiting", "parked"]);
    expect(await listed(outbox(), "waiting")).toEqual(["untried", "mixed", "waiting"]);
    expect(await listed(outbox(), "parked")).toEqual(["mixed", "parked"]);
  });

  it("reads parked commits only if it may show them", async () => {
    const asked = async (state?: "waiting" | "parked") => {
      const one = outbox();
      await listed(one, state);
      return one.asked;
    };

    expect(await asked("waiting")).toEqual([0, 1]);
    expect(await asked("parked")).toEqual([0, 1, ...PARKED_SHARDS]);
    expect(await asked()).toEqual([0, 1, ...PARKED_SHARDS]);
  });

  it("skips a commit that is over, shows one that can't be read, and fails if the database doesn't respond", async () => {
    const unreadable = new RecordCorruptError("the record has no token");
    const failing = new MemoryOutbox({
      0: ["over", unreadable, new StoreUnavailableError("unreachable", undefined)],
    });
    const listing = failing.list("parked");

    expect((await listing.next()).value).toEqual({ recordKey: "1", fault: unreadable });
    await expect(listing.next()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

describe("sendAgain", () => {
  it("makes all open messages wait as if they had never been tried", async () => {
    const commit = commitOf({ progress: [SENT, PARKED, { state: "waiting", tries: 3 }] });

    const { progress, messages, acts } = await changeBy((outbox) => outbox.sendAgain(commit, ana));

    expect(progress).toEqual([
      SENT,
      { state: "waiting", tries: 0, at: PARKED.at },
      { state: "waiting", tries: 0, at: 0 },
    ]);
    expect(messages).toBe(commit.messages);
    expect(acts).toEqual([
      { act: "send-again", messages: [1, 2], count: 2, by: "ana", why: "ticket 7", at: NOW },
    ]);
  });

  it("takes messages that were never tried for waiting ones", async () => {
    const { progress, acts } = await changeBy((outbox) =>
      outbox.sendAgain(commitOf(), { ...ana, messages: [2] }),
    );

    expect(progress.map(({ state }) => state)).toEqual(["waiting", "waiting", "waiting"]);
    expect(acts[0].messages).toEqual([2]);
  });

  it("says that the commit was changed since it was read", async () => {
    expect(await new MemoryOutbox().sendAgain(commitOf({ token: "former" }), ana)).toBe(false);
  });
});

describe("drop", () => {
  it("gives messages up, each once, and keeps what is known about them", async () => {
    const commit = commitOf({ progress: [PARKED, WAITING, PARKED] });

    const { progress, messages, acts } = await changeBy((outbox) =>
      outbox.drop(commit, { ...ana, messages: [0, 1, 0] }),
    );

    expect(progress).toEqual([{ ...PARKED, state: "dropped" }, { ...WAITING, state: "dropped" }, PARKED]);
    expect(messages).toBe(commit.messages);
    expect(acts).toMatchObject([{ act: "drop", messages: [0, 1], count: 2 }]);
  });

  it("keeps the last five acts, next to the verdict about the key", async () => {
    const former = Array.from({ length: 5 }, (_, index) => ({ act: "drop", why: `${index}` }));
    const commit = commitOf({ evidence: JSON.stringify({ verdict: "happened", acts: former }) });
    const outbox = new MemoryOutbox();
    await outbox.drop(commit, { ...ana, messages: [0] });

    const { verdict, acts } = JSON.parse(outbox.decided[0]![1].evidence);
    expect(verdict).toBe("happened");
    expect(acts.map(({ why }: { why: string }) => why)).toEqual(["1", "2", "3", "4", "ticket 7"]);
  });
});

describe("redirect", () => {
  it("changes the destination of some messages", async () => {
    const commit = commitOf({ progress: [PARKED, PARKED, PARKED] });

    const { progress, messages, acts } = await changeBy((outbox) =>
      outbox.redirect(commit, { ...ana, messages: [1], to: { queue: OTHER } }),
    );

    expect(progress).toEqual([PARKED, { state: "waiting", tries: 0, at: PARKED.at }, PARKED]);
    expect(messages[0]).toBe(commit.messages[0]);
    expect(messages[1]).toEqual({ ...message("b"), queue: OTHER });
    expect(messages[2]).toBe(commit.messages[2]);
    expect(acts).toMatchObject([{ act: "redirect", messages: [1] }]);
  });

  it("makes an event of what goes to a bus, which has no group, attributes or delay", async () => {
    const bus = { bus: "shop", source: "orders", detailType: "paid" };
    const given = message("a", { attributes: { kind: "paid" }, delaySeconds: 5 });
    const commit = commitOf({ messages: [given] });

    const { messages } = await changeBy((outbox) =>
      outbox.redirect(commit, { ...ana, messages: [0], to: bus }),
    );

    expect(messages).toEqual([{ ...bus, key: "a", body: '{"cents":5}' }]);
  });

  it("takes an event from one bus to another, or to a queue", async () => {
    const event = { bus: "shop", source: "orders", detailType: "paid", key: "a", body: '{"cents":5}' };
    const commit = commitOf({ messages: [event] });
    const to = (other: object) =>
      changeBy((outbox) => outbox.redirect(commit, { ...ana, messages: [0], to: other as never }));

    expect((await to({ bus: "audit", source: "o", detailType: "p" })).messages).toEqual([
      { bus: "audit", source: "o", detailType: "p", key: "a", body: '{"cents":5}' },
    ]);
    expect((await to({ queue: OTHER })).messages).toEqual([{ queue: OTHER, key: "a", body: '{"cents":5}' }]);
  });

  it("refuses a body that a bus can't take, and names the message", async () => {
    const commit = commitOf({ messages: [message("a"), message("b", { body: "plain text" })] });
    const to = { bus: "shop", source: "orders", detailType: "paid" };
    const refused = new MemoryOutbox().redirect(commit, { ...ana, messages: [1], to });

    await expect(refused).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
      message: expect.stringContaining("messages[1]"),
    });
  });

  it("leaves a sealed message sealed", async () => {
    const commit = commitOf({ messages: [message("a", { sealed: "s-1" })] });

    const { messages } = await changeBy((outbox) =>
      outbox.redirect(commit, { ...ana, messages: [0], to: { queue: OTHER } }),
    );

    expect(messages).toMatchObject([{ queue: OTHER, sealed: "s-1" }]);
    const plain = await changeBy((outbox) =>
      outbox.redirect(commitOf(), { ...ana, messages: [0], to: { queue: OTHER } }),
    );
    expect(plain.messages[0]).not.toHaveProperty("sealed");
  });
});

describe("edit", () => {
  const edit = (more: object, commit = commitOf()) => {
    const outbox = new MemoryOutbox();
    return {
      outbox,
      edited: outbox.edit(commit, { ...ana, message: 1, body: { cents: 7 }, ...more } as never),
    };
  };

  it("H90: gives one message another body and a new key, and keeps the former key", async () => {
    const commit = commitOf();
    const { messages, progress, acts } = await changeBy((outbox) =>
      outbox.edit(commit, { ...ana, message: 1, body: { cents: 7 } }),
    );

    expect([messages[0], messages[2]]).toEqual([commit.messages[0], commit.messages[2]]);
    expect(messages[1]).toEqual({
      ...message("b"),
      body: '{"cents":7}',
      key: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(progress[1]).toEqual({ state: "waiting", tries: 0, at: 0 });
    expect(acts).toMatchObject([{ act: "edit", messages: [1], formerKey: "b" }]);
  });

  it("H90: makes another key for another commit, place or time", async () => {
    const keyOf = async (more: object = {}, change: Partial<Unsent> = {}) => {
      const { outbox, edited } = edit(more, commitOf(change));
      await edited;
      return outbox.decided[0]![1].messages[(more as { message?: number }).message ?? 1]!.key;
    };
    const later = { ...ana.clock, now: () => NOW + 1 };
    const keys = [
      await keyOf(),
      await keyOf({ message: 2 }),
      await keyOf({ clock: later }),
      await keyOf({}, { recordKey: "o##8" }),
    ];

    expect(new Set(keys).size).toBe(4);
    expect(await keyOf()).toBe(keys[0]);
    // A repetition of the act by other code makes the same key.
    expect(keys[0]).toBe("h9CR7cjWKVmxY1s1a7-e8TwGBe7yc-eUMsPzn3EsMDg");
    expect(await keyOf({ key: "order-7/fixed" })).toBe("order-7/fixed");
  });

  it.each([
    [{ message: 3 }, "`message` must be the index"],
    [{ message: undefined }, "`message`"],
    [{ body: undefined }, "`body` is required"],
    [{ key: "" }, "`key`"],
    [{ body: { n: 1n } }, "messages[1]"],
    [{ key: "a" }, "a different body"],
    [{ by: undefined }, "`by`"],
    [{ why: undefined }, "`why`"],
    [{ messages: [1] }, "`messages` isn't an option"],
  ])("H90: refuses %o before any request", async (more, text) => {
    const { outbox, edited } = edit(more);

    await expect(edited).rejects.toThrow(text);
    expect(outbox.decided).toEqual([]);
  });

  it.each([
    [{ sealed: "s-1" }, "`message` is encrypted: drop it"],
    [{ attributes: { ExtendedPayloadSize: 9 } }, "`message` has its body in a bucket: drop it"],
  ])("refuses a message that it can't read: %j", async (more, text) => {
    await expect(edit({}, commitOf({ messages: [message("a"), message("b", more)] })).edited).rejects.toThrow(
      text,
    );
  });

  it("leaves the attributes of a message", async () => {
    const { outbox, edited } = edit(
      {},
      commitOf({ messages: [message("a"), message("b", { attributes: { kind: "paid" } })] }),
    );
    await edited;

    expect(outbox.decided[0]![1].messages[1]).toMatchObject({ attributes: { kind: "paid" } });
  });
});

describe("an act", () => {
  const commit = commitOf({ progress: [SENT, PARKED, { ...PARKED, state: "dropped" }] });

  it.each([[[]], [[0]], [[2]], [[3]], [[-1]], [[1, 0]]])("refuses the places %j", async (messages) => {
    const outbox = new MemoryOutbox();
    const refused = {
      code: "INVALID_OPTION",
      message: expect.stringContaining("`messages` must be an array of indexes"),
    };

    await expect(outbox.drop(commit, { ...ana, messages })).rejects.toMatchObject(refused);
    await expect(outbox.sendAgain(commit, { ...ana, messages })).rejects.toMatchObject(refused);
    await expect(outbox.redirect(commit, { ...ana, messages, to: { queue: OTHER } })).rejects.toMatchObject(
      refused,
    );
    expect(outbox.decided).toEqual([]);
  });

  it.each([
    [{ messages: 1 }, "messages"],
    [{ messages: undefined }, "messages"],
    [{ to: undefined }, "to"],
    [{ to: "queue" }, "to"],
    [{ by: "" }, "by"],
    [{ why: undefined }, "why"],
    [{ clock: 7 }, "clock"],
    [{ when: 1 }, "when"],
  ])("refuses %j", async (more, option) => {
    const options = { ...ana, messages: [1], to: { queue: OTHER }, ...more } as never;

    await expect(new MemoryOutbox().redirect(commit, options)).rejects.toThrow(`\`${option}\``);
  });

  it("needs the messages that it drops", async () => {
    await expect(new MemoryOutbox().drop(commit, ana as never)).rejects.toThrow(
      "`messages` must be an array",
    );
  });
});
