// What relay and sweeper report, and which options they refuse.
import { runOnce } from "onceonly";
import {
  type OutboxEvent,
  type OutboxOptions,
  type OutboxSendEvent,
  outboxRelay,
  outboxSweeper,
} from "onceonly/messaging";
import { fakeClock, fakeRandom, MemoryStore } from "onceonly/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { timeless } from "../kit/time/timeless.ts";
import { withOutbox } from "../kit/with-outbox.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";
const SECRET = "canary-5f2e";

afterEach(() => vi.restoreAllMocks());

/** A commit of two messages that waits, and an SQS that accepts all or refuses all. */
async function newCommit(
  accepts = true,
  more: { readonly traceparent?: () => string; readonly operation?: string } = {},
) {
  const clock = fakeClock();
  const store = new MemoryStore();
  const messages = ["created", "paid"].map((name) => ({
    queue: QUEUE,
    key: `${SECRET}/${name}`,
    group: SECRET,
    body: SECRET,
  }));
  const options = { operation: "create-order", scope: "tenant-1", store, leaseSeconds: 30, clock, ...more };
  await runOnce(options, SECRET, {}, ({ commit }) => commit(null, { messages }));
  const events: Exclude<OutboxEvent, OutboxSendEvent>[] = [];
  const sends: OutboxSendEvent[] = [];
  const send = async ({ input }: { input: { Entries: { Id: string }[] } }) => {
    const ids = input.Entries.map(({ Id }) => ({ Id, MessageId: Id, Code: "Refused", SenderFault: true }));
    return accepts ? { Successful: ids } : { Failed: ids };
  };
  const outboxOptions: OutboxOptions = {
    outbox: store.outbox,
    destinations: "any",
    sqs: { config: {}, send },
    clock: timeless(clock),
    random: fakeRandom("events"),
    observe: (event) => (event.event === "send" ? sends.push(event) : events.push(event)),
  };
  const [recordKey = ""] = store.outbox.changes;
  // A change of a MemoryStore is the key of its record.
  const change = { dynamodb: { SequenceNumber: "17" }, toString: () => recordKey };
  const numberless = { dynamodb: {}, toString: () => recordKey };
  return {
    clock,
    store,
    events,
    sends,
    change,
    options: outboxOptions,
    relay: (more: Partial<OutboxOptions> = {}) =>
      outboxRelay({ ...outboxOptions, ...more })({ Records: [change] }),
    relayWithoutNumber: () => outboxRelay(unmarkable(outboxOptions))({ Records: [numberless] }),
    sweep: (more: Partial<OutboxOptions> = {}) => outboxSweeper({ ...outboxOptions, ...more })(),
  };
}

const unmarkable = (options: OutboxOptions): OutboxOptions => ({
  ...options,
  outbox: withOutbox(options.outbox, { markSent: () => Promise.reject(new Error("no answer")) }),
});

describe("what relay and sweeper report", () => {
  const { keyHash } = identify("create-order", "tenant-1", SECRET);
  const common = { operation: "create-order", keyHash, messages: 2 };

  it("a sent commit: by which sender, of which operation, and how long it took", async () => {
    const commit = await newCommit();
    await commit.clock.advance(1234);

    expect(await commit.relay()).toEqual({ batchItemFailures: [] });

    expect(commit.events).toEqual([{ event: "sent", by: "relay", ...common, lagMs: 1234, error: undefined }]);
  });

  it("an operation by its own name, whatever characters are in it", async () => {
    const operation = "café#orders/%2023";
    const commit = await newCommit(true, { operation });

    await commit.relay();

    const named = { operation, keyHash: identify(operation, "tenant-1", SECRET).keyHash };
    expect(commit.events).toMatchObject([named]);
    expect(commit.sends).toMatchObject([named, named]);
  });

  it("H98: N6: a commit that two relays of one stream have sent: the second one reports it", async () => {
    const commit = await newCommit();

    await Promise.all([commit.relay(), commit.relay()]);

    expect(commit.sends).toHaveLength(4);
    const [first, second] = commit.events;
    expect([first, second]).toMatchObject([
      { event: "sent", by: "relay", error: undefined },
      { event: "sent", by: "relay", error: { name: "SentTwice" } },
    ]);
    expect(String(second?.error)).toContain("look for a second relay");
  });

  it("H98: N6: without an observer, a commit that was sent twice on the console", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const commit = await newCommit();
    const { observe: _, ...options } = commit.options;
    const relay = () => outboxRelay(options)({ Records: [commit.change] });

    await Promise.all([relay(), relay()]);

    expect(error.mock.calls).toEqual([[expect.objectContaining({ name: "SentTwice" })]]);
  });

  it("a commit that could not be sent: with the error, and again with every try", async () => {
    const commit = await newCommit(false);
    await commit.clock.advance(61_000);

    expect(await commit.relay()).toEqual({ batchItemFailures: [] });
    await commit.clock.advance(61_000);
    expect(await commit.sweep()).toEqual({ sent: 0, failed: 1, waiting: 0 });

    const error = expect.objectContaining({
      code: "SEND_FAILED",
      failed: [
        { id: "0", code: "Refused" },
        { id: "1", code: "NotAttempted" },
      ],
    });
    expect(commit.events).toEqual([
      { event: "send-failed", by: "relay", ...common, lagMs: 61_000, error },
      { event: "send-failed", by: "sweeper", ...common, lagMs: 122_000, error },
      { event: "backlog", by: "sweeper", waiting: 1, oldestMs: 122_000, parked: 0 },
    ]);
  });

  it("H38: never a key, a group, a body or an address", async () => {
    for (const accepts of [true, false]) {
      const commit = await newCommit(accepts);
      await commit.clock.advance(61_000);
      await commit.relay();
      await commit.sweep();

      const all = [...commit.events, ...commit.sends];
      const said = all.map((event) => `${JSON.stringify(event)} ${event.error}`).join();
      expect(said).toContain("create-order");
      expect(said).not.toMatch(/canary|amazonaws/);
    }
  });

  const sent = {
    event: "send",
    operation: "create-order",
    keyHash,
    to: "queue/payments.fifo",
    durationMs: 0,
  };

  it("each message: its destination, its trace, and the result of the try", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const { relay, sends, clock } = await newCommit(true, { traceparent: () => traceparent });
    await clock.advance(1234);
    await relay();

    const each = {
      ...sent,
      by: "relay",
      outcome: "sent",
      traceparent,
      endedAt: clock.now(),
      code: undefined,
    };
    expect(sends).toEqual([each, each]);
  });

  it("each message that was rejected and then parked, and none that was never tried", async () => {
    const { relay, sweep, sends, clock } = await newCommit(false);
    await relay();
    await clock.advance(61_000);
    await sweep({ parkAfterTries: 2 });

    const each = { ...sent, traceparent: undefined, code: "Refused" };
    expect(sends).toEqual([
      { ...each, by: "relay", outcome: "send-failed", endedAt: clock.now() - 61_000 },
      { ...each, by: "sweeper", outcome: "parked", endedAt: clock.now() },
    ]);
  });

  it("a message as its destination has it, if its progress could not be stored", async () => {
    const [accepted, refused] = [await newCommit(), await newCommit(false)];
    await accepted.relayWithoutNumber();
    await outboxRelay({
      ...refused.options,
      parkAfterTries: 1,
      outbox: withOutbox(refused.options.outbox, { keep: () => Promise.reject(new Error("no answer")) }),
    })({ Records: [refused.change] });

    expect(accepted.sends.map(({ outcome }) => outcome)).toEqual(["sent", "sent"]);
    expect(accepted.events).toMatchObject([{ event: "send-failed" }]);
    expect(refused.sends.map(({ outcome }) => outcome)).toEqual(["send-failed"]);
  });

  it.each([
    ["null", null, undefined],
    ["a message of no destination", { key: "a", body: "{}" }, undefined],
    ["a message of no address", { queue: SECRET, key: "a", body: "{}", traceparent: SECRET }, undefined],
    ["a message of no body", { queue: QUEUE, key: "a", group: "a" }, "queue/payments.fifo"],
  ])("%s is reported as parked, without its content", async (_, message, to) => {
    const { options, change, sends } = await newCommit();
    const outbox = withOutbox(options.outbox, {
      readChange(given) {
        const read = options.outbox.readChange(given)!;
        return { ...read, unsent: { ...read.unsent!, messages: [message] as never } };
      },
      keep: async () => {},
    });
    await outboxRelay({ ...options, outbox })({ Records: [change] });

    expect(sends).toMatchObject([{ outcome: "parked", to, code: "MessageInvalid", traceparent: undefined }]);
    expect(JSON.stringify(sends)).not.toContain(SECRET);
  });

  it("H38: a failure is stored and reported by its code, and anything but a code as `Error`", async () => {
    const { relay, store, events } = await newCommit();
    const [recordKey = ""] = store.outbox.changes;
    const send = async ({ input }: { input: { Entries: { Id: string }[] } }) => ({
      Failed: input.Entries.map(({ Id }) => ({ Id, Code: `not for ${SECRET}`, SenderFault: true })),
    });

    await relay({ sqs: { config: {}, send } });

    expect((await store.outbox.load(recordKey))?.progress?.[0]).toMatchObject({
      state: "waiting",
      code: "Error",
    });
    expect(events).toMatchObject([
      { event: "send-failed", error: { failed: [{ code: "Error" }, { code: "NotAttempted" }] } },
    ]);
    const said = events.map(({ error }) => `${JSON.stringify(error)} ${error}`).join();
    expect(said).not.toContain(SECRET);
  });

  it("without an observer, errors go to the console, and nothing else does", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    for (const accepts of [true, false]) {
      const { relay } = await newCommit(accepts);
      await relay({ observe: undefined as never });
    }

    expect(logged.mock.calls).toEqual([[expect.objectContaining({ code: "SEND_FAILED" })]]);
  });

  it("an error thrown by the observer changes nothing", async () => {
    const { relay, store } = await newCommit();
    const observe = () => {
      throw new Error("the log is full");
    };

    expect(await relay({ observe })).toEqual({ batchItemFailures: [] });

    expect(store.outbox.changes).toEqual([]);
  });
});

describe("the options of relay and sweeper", () => {
  const outbox = new MemoryStore().outbox;
  const both = { outboxRelay, outboxSweeper };
  const needed = { outbox, destinations: "any" } as const;

  it.each([
    ["no outbox", { destinations: "any" }, "`outbox` must be"],
    ["a store for an outbox", { outbox: new MemoryStore() }, "`outbox` must"],
    ["no destinations", { outbox }, "`destinations` must be an array of at least one queue URL"],
    [
      "destinations from a variable that is not set",
      { outbox, destinations: undefined },
      "`destinations` must",
    ],
    ["an unknown option", { ...needed, minAge: 5 }, "`minAge` isn't an option"],
    ["a client that cannot send", { ...needed, sqs: {} }, "`sqs` must"],
    ["no try at all", { ...needed, maxTries: 0 }, "`maxTries` must be a whole number between 1 and 20"],
    ["an observer that is none", { ...needed, observe: "log" }, "`observe` must be a function"],
  ])("R6: reject %s when they are created", (_, options: object, message) => {
    for (const make of Object.values(both)) {
      expect(() => make(options as OutboxOptions)).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION" }),
      );
      expect(() => make(options as OutboxOptions)).toThrow(message);
    }
  });

  it("are named, with the needed ones, when there are none", () => {
    for (const make of Object.values(both)) {
      expect(() => make(undefined as never)).toThrow("such as { outbox: …, destinations: … }");
    }
  });

  it.each([
    ["parkAfterTries", 0, "must be a whole number between 1 and 10000"],
    ["parkAfterTries", 1.5, "must be a whole number between 1 and 10000"],
    ["parkAfterTries", 10_001, "must be a whole number between 1 and 10000"],
    ["parkAfterSeconds", 59, "must be a number of seconds between 60 and 31536000"],
    ["parkAfterSeconds", 31_536_001, "must be a number of seconds between 60 and 31536000"],
    ["parkAfterSeconds", "60", "must be a number of seconds between 60 and 31536000"],
  ])("refuse %s of %s", (name, value, message) => {
    for (const make of Object.values(both)) {
      expect(() => make({ ...needed, [name]: value })).toThrow(`\`${name}\` ${message}`);
    }
  });

  it.each([
    { parkAfterTries: 1, parkAfterSeconds: 60 },
    { parkAfterTries: 10_000, parkAfterSeconds: 31_536_000 },
  ])("accept %o", (options) => {
    for (const make of Object.values(both)) expect(make({ ...needed, ...options })).toBeInstanceOf(Function);
  });

  it.each([-1, 86_401, Number.NaN, "60"])("refuse minAgeSeconds of %s", (minAgeSeconds) => {
    const make = () => outboxSweeper({ ...needed, minAgeSeconds: minAgeSeconds as number });

    expect(make).toThrow("`minAgeSeconds` must be a number of seconds between 0 and 86400");
  });

  it("accept minAgeSeconds from 0 to a day, which the relay does not know", () => {
    for (const minAgeSeconds of [0, 1, 86_400]) outboxSweeper({ ...needed, minAgeSeconds });

    expect(() => outboxRelay({ ...needed, minAgeSeconds: 1 } as OutboxOptions)).toThrow(
      "`minAgeSeconds` isn't an option",
    );
  });

  it("a change without a sequence number brings its whole batch again when it cannot be marked", async () => {
    const { options, store } = await newCommit();
    const Records = store.outbox.changes as never;

    expect(await outboxRelay(unmarkable(options))({ Records })).toEqual({
      batchItemFailures: [{ itemIdentifier: "" }],
    });
  });

  it("the relay throws for anything but a stream event", async () => {
    await expect(outboxRelay(needed)({} as never)).rejects.toThrow(
      "the event has no records: connect outboxRelay",
    );
  });

  it("the sweeper throws if the index can't be read: its invocation counts as failed", async () => {
    const broken = withOutbox(outbox, {
      // biome-ignore lint/correctness/useYield: it fails before there is a page.
      async *findUnsent() {
        throw new Error("no index");
      },
    });

    await expect(outboxSweeper({ ...needed, outbox: broken })()).rejects.toThrow("no index");
  });
});

describe("outboxRelay, for a change without a sequence number", () => {
  it("fails the whole batch, since Lambda could not begin again in it", async () => {
    const commit = await newCommit();

    expect(await commit.relayWithoutNumber()).toEqual({ batchItemFailures: [{ itemIdentifier: "" }] });
  });
});
