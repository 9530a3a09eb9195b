// What senders note for each other about groups that wait, where the notes cannot be read or written.
import { type OutboxCommitEvent, type OutboxEvent, outboxRelay, outboxSweeper } from "onceonly/messaging";
import { fakeClock, fakeRandom } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { linesOf } from "../../lib/messaging/line-notes.ts";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";
import { refusingSend } from "../kit/faults/refusing-send.ts";
import { timeless } from "../kit/time/timeless.ts";
import { withOutbox } from "../kit/with-outbox.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";

/** Commits of one message each, in one group, and an SQS that takes all but `state.refused`. */
function newGroup(...names: readonly string[]) {
  const clock = fakeClock();
  const memory = new MemoryOutbox(() => {});
  const state = { refused: "", isBusy: false };
  const accepted: string[] = [];
  const events: OutboxCommitEvent[] = [];
  for (const [index, name] of names.entries()) {
    const messages = [{ queue: QUEUE, key: name, group: "a", body: name }];
    memory.add({ recordKey: `op##${name}`, token: name, committedAt: clock.now() + index, messages });
  }
  const options = {
    outbox: withOutbox(memory, {
      // Others always come first.
      replaceNotes: async (...notes) => !state.isBusy && memory.replaceNotes(...notes),
    }),
    destinations: "any" as const,
    sqs: { config: {}, send: refusingSend(state, accepted) },
    clock: timeless(clock),
    random: fakeRandom("notes"),
    observe: (event: OutboxEvent) => {
      if (event.event !== "backlog" && event.event !== "send") events.push(event);
    },
  };
  const Records = names.map((name) => ({
    dynamodb: { SequenceNumber: name },
    toString: () => `op##${name}`,
  }));
  const [relay, sweep] = [outboxRelay(options), outboxSweeper(options)];
  return { clock, memory, state, accepted, events, sweep, relay: () => relay({ Records }) };
}

describe("notes about waiting messages", () => {
  it.each([
    ["no JSON", "{"],
    ["no notes", "[7]"],
    ["notes without a time", '{"a":{"last":{}}}'],
  ])("that cannot be read, since they are %s, hold up nothing", async (_, text) => {
    const group = newGroup("a1", "a2");
    await group.memory.replaceNotes(undefined, text);

    expect(await group.relay()).toEqual({ batchItemFailures: [] });

    expect(group.accepted).toEqual(["a1", "a2"]);
  });

  it("H35: that others change all the time bring the whole batch again, and nothing overtakes a rejected message", async () => {
    const group = newGroup("a1", "a2", "a3");
    Object.assign(group.state, { refused: "a2", isBusy: true });

    expect(await group.relay()).toEqual({ batchItemFailures: [{ itemIdentifier: "a1" }] });

    expect(group.accepted).toEqual(["a1"]);
    expect(group.events.filter(({ event }) => event !== "sent")).toMatchObject(
      Array(3).fill({ event: "send-failed", error: { code: "STORE_UNAVAILABLE", failure: "conflict" } }),
    );
    Object.assign(group.state, { refused: "", isBusy: false });
    expect(await group.relay()).toEqual({ batchItemFailures: [] });
    await group.clock.advance(91_000);
    await group.sweep();
    expect(group.accepted).toEqual(["a1", "a2", "a3"]);
  });

  it("H35: by which the sweeper asks for a moment bring the whole batch again, and nothing of it is sent", async () => {
    const group = newGroup("a1", "a2");
    const now = group.clock.now();
    const { line } = linesOf({ queue: QUEUE, key: "a1", group: "a", body: "a1" })!;
    const note = { tries: 1, until: now, from: now, since: now, last: {}, handover: now + 10_000 };
    await group.memory.replaceNotes(undefined, JSON.stringify({ [line]: note }));

    expect(await group.relay()).toEqual({ batchItemFailures: [{ itemIdentifier: "a1" }] });

    expect(group.accepted).toEqual([]);
  });

  it("H35: by which the sweeper asks for a moment hold back later commits of the other groups of a commit, too", async () => {
    const group = newGroup("a1", "e2");
    const now = group.clock.now();
    const first = (await group.memory.load("op##a1"))!;
    const e1 = { queue: QUEUE, key: "e1", group: "e", body: "e1" };
    group.memory.add({ ...first, messages: [...first.messages, e1] });
    const second = (await group.memory.load("op##e2"))!;
    group.memory.add({ ...second, messages: [{ queue: QUEUE, key: "e2", group: "e", body: "e2" }] });
    const { line } = linesOf({ queue: QUEUE, key: "a1", group: "a", body: "a1" })!;
    const note = { tries: 1, until: now, from: now, since: now, last: {}, handover: now + 10_000 };
    await group.memory.replaceNotes(undefined, JSON.stringify({ [line]: note }));

    expect(await group.relay()).toEqual({ batchItemFailures: [{ itemIdentifier: "a1" }] });

    expect(group.accepted).toEqual([]);
  });
});
