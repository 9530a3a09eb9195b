// What operators see and decide in an outbox, on every database that has one.
import { expect, it } from "vitest";
import type {
  ListedCommit,
  OperatedOutbox,
  OutboxDropOptions,
} from "../../../lib/core/messages/operated-outbox.ts";
import type { MessageProgress, Outbox, Unsent } from "../../../lib/core/messages/outbox.ts";
import type { StoredMessage } from "../../../lib/core/messages/outgoing-message.ts";

export const COMMITTED_AT = 1_800_000_001_000;
const LATER = COMMITTED_AT + 600_000;
const DECIDED_AT = LATER + 1000;
const ANA = {
  by: "ana",
  why: "ticket 4711",
  clock: { now: () => DECIDED_AT, sleep: () => Promise.reject(new Error("nothing waits here")) },
};
const OTHER = "https://sqs.eu-central-1.amazonaws.com/123456789012/repaired.fifo";
const PARKED: MessageProgress = { state: "parked", tries: 50, at: LATER, code: "QueueDoesNotExist" };
const SENT: MessageProgress = { state: "sent", tries: 1, at: LATER, to: "queue/payments.fifo" };

export interface OperatedSubject {
  readonly outbox: OperatedOutbox & Outbox;
  /** Commits two messages at COMMITTED_AT, of so many bytes each. */
  commit(bytes: number): Promise<{ readonly recordKey: string; readonly messages: readonly StoredMessage[] }>;
  /** Makes the stored messages of a record unreadable. */
  damage(recordKey: string): Promise<void>;
  /** What is kept with the record about its messages, once all are over. */
  kept(
    recordKey: string,
  ): Promise<{ readonly progress: string; readonly expires: boolean; readonly evidence: unknown }>;
  /** Stores a verdict about the key. */
  judge(recordKey: string, evidence: string): Promise<void>;
}

const listed = async ({ outbox }: OperatedSubject, state?: "waiting" | "parked") => {
  const all: ListedCommit[] = [];
  for await (const commit of outbox.list(state)) all.push(commit);
  return all;
};

export function operatorCases(newSubject: () => Promise<OperatedSubject>): void {
  /** A commit of two messages whose second one is parked, unless it has another progress. */
  async function givenParked(progress = [SENT, PARKED], bytes = 20) {
    const table = await newSubject();
    const { recordKey } = await table.commit(bytes);
    await table.outbox.keep((await table.outbox.load(recordKey))!, progress, LATER);
    const reload = () => table.outbox.load(recordKey);
    const take = () =>
      table.outbox.take(recordKey, { by: "sweeper", id: "me", now: LATER, until: LATER + 1000 });
    return { table, recordKey, commit: (await reload())!, reload, take };
  }

  it("lists what waits, what is parked, and the parked part of a commit that waits", async () => {
    const { table, recordKey, commit } = await givenParked();
    expect(await listed(table, "waiting")).toEqual([]);
    expect(await listed(table, "parked")).toEqual([{ recordKey, commit }]);
    expect(commit.progress).toEqual([SENT, PARKED]);

    const { table: mixed, recordKey: other } = await givenParked([{ state: "waiting", tries: 1 }, PARKED]);

    expect((await listed(mixed, "waiting")).map((each) => each.recordKey)).toEqual([other]);
    expect((await listed(mixed, "parked")).map((each) => each.recordKey)).toEqual([other]);
    expect((await listed(mixed)).map((each) => each.recordKey)).toEqual([other]);
    expect(await listed(table)).toEqual([{ recordKey, commit }]);
  });

  it("lists a commit that has never been tried, and has one of its messages sent again or dropped", async () => {
    const table = await newSubject();
    const { recordKey } = await table.commit(20);
    const commit = (await table.outbox.load(recordKey))!;
    expect((await listed(table, "waiting")).map((each) => each.recordKey)).toEqual([recordKey]);
    expect(await listed(table, "parked")).toEqual([]);
    expect((await listed(table)).map((each) => each.recordKey)).toEqual([recordKey]);
    expect(commit.progress).toBeUndefined();

    expect(await table.outbox.drop(commit, { ...ANA, messages: [0] })).toBe(true);

    const states = (await table.outbox.load(recordKey))!.progress!.map(({ state }) => state);
    expect(states).toEqual(["dropped", "waiting"]);
  });

  it("lists what can't be read, and why", async () => {
    const { table, recordKey } = await givenParked();
    await table.damage(recordKey);

    const fault = expect.objectContaining({ code: "RECORD_CORRUPT" });
    expect(await listed(table, "parked")).toEqual([{ recordKey, fault }]);
  });

  it("sends parked messages again as if they had never been tried, and nothing that was sent", async () => {
    const { table, commit, take } = await givenParked();
    expect(await take()).toEqual({ state: "over" });

    expect(await table.outbox.sendAgain(commit, ANA)).toBe(true);

    const taken = await take();
    expect(taken).toMatchObject({
      state: "taken",
      unsent: { progress: [SENT, { state: "waiting", tries: 0, at: LATER }], dueAt: COMMITTED_AT },
    });
    expect(await table.outbox.count()).toEqual({ waiting: 1, parked: 0 });
  });

  it.each([
    ["in the record", 20],
    ["in items of their own", 3000],
  ])("redirects a message %s to another destination, and leaves the others as they are", async (_, bytes) => {
    const { table, commit, reload } = await givenParked(undefined, bytes);

    expect(await table.outbox.redirect(commit, { ...ANA, messages: [1], to: { queue: OTHER } })).toBe(true);

    const { messages, progress } = (await reload())!;
    expect(messages).toEqual([commit.messages[0], { ...commit.messages[1], queue: OTHER }]);
    expect(progress).toEqual([SENT, { state: "waiting", tries: 0, at: LATER }]);
  });

  it.each([
    ["in the record", 20],
    ["in items of their own", 3000],
  ])(
    "H90: edits a message %s and sends it under another key; the record keeps the previous one",
    async (_, bytes) => {
      const { table, recordKey, commit, reload } = await givenParked(undefined, bytes);

      expect(await table.outbox.edit(commit, { ...ANA, message: 1, body: { fixed: true } })).toBe(true);

      const { messages, progress } = (await reload())!;
      const [, former] = commit.messages;
      expect(messages[0]).toEqual(commit.messages[0]);
      expect(messages[1]).toEqual({
        ...former,
        body: '{"fixed":true}',
        key: expect.stringMatching(/^[\w-]{43}$/),
      });
      expect(progress).toEqual([SENT, { state: "waiting", tries: 0, at: LATER }]);
      expect((await table.kept(recordKey)).evidence).toMatchObject({
        acts: [{ act: "edit", messages: [1], by: "ana", formerKey: former!.key }],
      });
    },
  );

  it("H90: edits under a given key, and refuses before any write what can't be sent", async () => {
    const { table, commit, reload } = await givenParked();
    const edit = (more: object) => table.outbox.edit(commit, { ...ANA, message: 1, body: "x", ...more });
    const { key } = commit.messages[0]!;

    await expect(edit({ message: 2 })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(edit({ message: 0 })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(edit({ key: "" })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(edit({ body: { n: 1n } })).rejects.toMatchObject({ code: "PAYLOAD_INVALID" });
    await expect(edit({ key })).rejects.toMatchObject({ code: "MESSAGE_ID_INVALID" });
    for (const odd of [{ sealed: "x" }, { attributes: { ExtendedPayloadSize: 9 } }]) {
      const messages = commit.messages.map((message) => ({ ...message, ...odd }) as never);
      const refused = table.outbox.edit({ ...commit, messages }, { ...ANA, message: 1, body: "x" });
      await expect(refused).rejects.toThrow("drop it, and send another one");
    }
    expect(await reload()).toEqual(commit);

    expect(await edit({ key: "order-7/fixed" })).toBe(true);
    expect((await reload())!.messages[1]).toMatchObject({ key: "order-7/fixed", body: "x" });
  });

  it("redirects to a bus what is an object, and reports what no destination accepts before any write", async () => {
    const { table, commit, reload } = await givenParked();
    const bus = { bus: "shop", source: "orders", detailType: "paid" };
    const refused = expect.objectContaining({ code: "PAYLOAD_INVALID" });

    await expect(table.outbox.redirect(commit, { ...ANA, messages: [1], to: bus })).rejects.toThrow(refused);
    await expect(
      table.outbox.redirect(commit, { ...ANA, messages: [1], to: { queue: "nowhere" } }),
    ).rejects.toThrow(refused);
    const [first, second] = commit.messages;
    const event: Unsent = { ...commit, messages: [first!, { ...second!, body: '{"paid":true}' }] };
    expect(await table.outbox.redirect(event, { ...ANA, messages: [1], to: bus })).toBe(true);

    const { key } = second!;
    expect((await reload())!.messages[1]).toEqual({ ...bus, key, body: '{"paid":true}' });
  });

  it("drops a message: the commit is over if nothing else is left, and records what became of it", async () => {
    const { table, recordKey, commit, reload } = await givenParked();

    expect(await table.outbox.drop(commit, { ...ANA, messages: [1] })).toBe(true);

    expect(await reload()).toBeUndefined();
    expect(await table.outbox.count()).toEqual({ waiting: 0, parked: 0 });
    const { progress, expires } = await table.kept(recordKey);
    expect(progress).toMatch(/dropped/);
    expect(expires).toBe(true);
  });

  it("drops one of two that are parked: the other one stays", async () => {
    const { table, commit, reload } = await givenParked([PARKED, PARKED]);

    expect(await table.outbox.drop(commit, { ...ANA, messages: [0] })).toBe(true);

    expect((await reload())!.progress).toEqual([{ ...PARKED, state: "dropped" }, PARKED]);
    expect(await table.outbox.count()).toEqual({ waiting: 0, parked: 1 });
  });

  it("changes nothing that has changed since, or that another attempt has committed", async () => {
    const { table, commit, reload } = await givenParked([PARKED, PARKED]);
    await table.outbox.drop(commit, { ...ANA, messages: [0] });
    const now = await reload();

    expect(await table.outbox.sendAgain(commit, ANA)).toBe(false);
    expect(await table.outbox.redirect(commit, { ...ANA, messages: [1], to: { queue: OTHER } })).toBe(false);
    expect(await table.outbox.sendAgain({ ...now!, token: "another" }, ANA)).toBe(false);
    expect(await table.outbox.drop({ ...now!, token: "another" }, { ...ANA, messages: [1] })).toBe(false);

    expect(await reload()).toEqual(now);
  });

  it("refuses places of messages that are sent or not there, before any request", async () => {
    const { table, commit } = await givenParked();
    const refused = expect.objectContaining({ code: "INVALID_OPTION" });

    for (const places of [[], [0], [2], [-1], [0.5]]) {
      await expect(table.outbox.drop(commit, { ...ANA, messages: places })).rejects.toThrow(refused);
      await expect(
        table.outbox.redirect(commit, { ...ANA, messages: places, to: { queue: OTHER } }),
      ).rejects.toThrow(refused);
      await expect(table.outbox.sendAgain(commit, { ...ANA, messages: places })).rejects.toThrow(refused);
    }
  });

  it("keeps who decided what, and why, next to the decision about the key, and no sender loses it", async () => {
    const { table, recordKey, commit: before, reload } = await givenParked([PARKED, PARKED]);
    const verdict = { verdict: "did-not-happen", by: "bob", at: COMMITTED_AT, attempt: 1 };
    await table.judge(recordKey, JSON.stringify(verdict));
    expect(await table.outbox.drop(before, { ...ANA, messages: [0] })).toBe(false);

    await table.outbox.drop((await reload())!, { ...ANA, messages: [0, 0] });
    await table.outbox.redirect((await reload())!, {
      ...ANA,
      messages: [1],
      to: { queue: OTHER },
      why: "moved",
    });
    await table.outbox.sendAgain((await reload())!, { ...ANA, by: "bob" });
    await table.outbox.keep((await reload())!, [PARKED, { state: "waiting", tries: 1, at: LATER }], LATER);
    await table.outbox.markSent((await reload())!, [{ ...PARKED, state: "dropped" }, SENT]);

    const { by, why } = ANA;
    const decided = { by, why, at: DECIDED_AT, count: 1 };
    expect((await table.kept(recordKey)).evidence).toEqual({
      ...verdict,
      acts: [
        { ...decided, act: "drop", messages: [0] },
        { ...decided, act: "redirect", messages: [1], why: "moved" },
        { ...decided, act: "send-again", messages: [1], by: "bob" },
      ],
    });
  });

  it("keeps the last five acts", async () => {
    const { table, recordKey, reload } = await givenParked();
    for (let time = 1; time <= 7; time++)
      await table.outbox.sendAgain((await reload())!, { ...ANA, why: `time ${time}` });
    await table.outbox.drop((await reload())!, { ...ANA, messages: [1], why: "enough" });

    const { acts } = (await table.kept(recordKey)).evidence as {
      acts: readonly { readonly why: string }[];
    };
    expect(acts.map(({ why }) => why)).toEqual(["time 4", "time 5", "time 6", "time 7", "enough"]);
  });

  it("ends no commit of which a sender has kept since that a message was sent", async () => {
    const { table, recordKey, commit } = await givenParked([PARKED, PARKED]);
    await table.outbox.keep(commit, [SENT, PARKED], LATER);

    expect(await table.outbox.drop(commit, { ...ANA, messages: [0, 1] })).toBe(false);

    expect((await table.outbox.load(recordKey))!.progress).toEqual([SENT, PARKED]);
  });

  it("keeps one of two simultaneous acts, and reports the conflict to the other one", async () => {
    const { table, commit } = await givenParked([PARKED, PARKED]);
    await table.outbox.sendAgain(commit, ANA);
    const [mine, theirs] = [
      await table.outbox.load(commit.recordKey),
      await table.outbox.load(commit.recordKey),
    ];

    expect(await table.outbox.sendAgain(mine!, ANA)).toBe(true);
    expect(await table.outbox.sendAgain(theirs!, { ...ANA, by: "bob" })).toBe(false);
  });

  it.each([
    [undefined, "options"],
    [{ messages: [1] }, "by"],
    [{ messages: [1], by: "ana" }, "why"],
    [{ ...ANA, by: "" }, "by"],
    [{ ...ANA, why: "x".repeat(257) }, "why"],
    [{ ...ANA, clock: 7 }, "clock"],
    [{ ...ANA, message: [0] }, "message"],
    [{ ...ANA, messages: 1 }, "messages"],
  ])("refuses an act of %j before any request", async (given, option) => {
    const { table, commit } = await givenParked();
    const refused = { code: "INVALID_OPTION", message: expect.stringContaining(`\`${option}\``) };
    const options = given as unknown as OutboxDropOptions & { to: object };

    await expect(table.outbox.sendAgain(commit, options)).rejects.toMatchObject(refused);
    await expect(table.outbox.drop(commit, options)).rejects.toMatchObject(refused);
    await expect(table.outbox.redirect(commit, { ...options, to: { queue: OTHER } })).rejects.toMatchObject(
      given ? refused : { code: "INVALID_OPTION" },
    );
  });

  it("what a sender is sending, and keeps, stays sent next to what was decided in between", async () => {
    const { table, commit, reload } = await givenParked([{ state: "waiting", tries: 1 }, PARKED]);
    const { recordKey } = commit;
    const taking = { by: "sweeper", id: "me", now: LATER, until: LATER + 1000 } as const;
    const taken = await table.outbox.take(recordKey, taking);
    const { unsent } = taken as { unsent: Unsent };

    expect(await table.outbox.sendAgain((await reload())!, { ...ANA, messages: [1] })).toBe(true);
    await table.outbox.keep(unsent, [SENT, PARKED], LATER);

    expect((await reload())!.progress).toEqual([SENT, { state: "waiting", tries: 0, at: LATER }]);
  });
}
