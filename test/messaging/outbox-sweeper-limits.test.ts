// How much the sweeper takes on: little at once, and nothing more when its time is nearly over.
import { type Outbox, outboxSweeper, type Unsent } from "onceonly";
import { fakeClock, fakeRandom } from "onceonly/testing";
import { describe, expect, it } from "vitest";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";

/** 25 commits in each of 8 shards, which the index answers with in two pages. */
function newBacklog() {
  const state = { held: 0, peak: 0, marked: 0 };
  const unsentOf = (recordKey: string): Unsent => {
    const [, shard = "", index = ""] = recordKey.split("#");
    const message = { queue: QUEUE, key: index, group: shard, body: index };
    return { recordKey, token: "mine", committedAt: 1, messages: [message] };
  };
  const outbox: Outbox = {
    readChange: () => undefined,
    async load(recordKey) {
      state.held += 1;
      state.peak = Math.max(state.peak, state.held);
      return unsentOf(recordKey);
    },
    async markSent() {
      state.held -= 1;
      state.marked += 1;
    },
    async *findUnsent(shard) {
      const keys = Array.from({ length: 25 }, (_, index) => `op#${shard}#${index}`);
      yield keys.slice(0, 24);
      yield keys.slice(24);
    },
  };
  const send = async ({ input }: { input: { Entries: { Id: string; MessageBody: string }[] } }) => {
    return { Successful: input.Entries.map(({ Id }) => ({ Id, MessageId: Id })) };
  };
  const options = {
    outbox,
    sqs: { config: {}, send },
    clock: fakeClock(),
    random: fakeRandom("limits"),
    observe: () => {},
  };
  return { state, options, sweep: outboxSweeper(options) };
}

describe("outboxSweeper", () => {
  it("holds 10 commits of each shard at most, since each may have megabytes of messages", async () => {
    const { state, sweep } = newBacklog();

    expect(await sweep()).toEqual({ sent: 200, failed: 0, waiting: 0 });

    expect(state.peak).toBe(80);
  });

  it("loads nothing more with less than 5 seconds left, and answers with what it did", async () => {
    const { state, sweep } = newBacklog();
    let asked = 0;
    // It is asked once at the start, and by every shard before each ten of its commits.
    const getRemainingTimeInMillis = () => [30_000, ...Array(16).fill(5001)][asked++] ?? 5000;

    expect(await sweep({}, { getRemainingTimeInMillis })).toEqual({ sent: 160, failed: 0, waiting: 0 });

    expect(state.held).toBe(0);
  });

  it("H34, H42: sends something also where the function has 3 seconds in all, as Lambda gives by default", async () => {
    const { sweep } = newBacklog();
    const times = [3000, ...Array(8).fill(3000), ...Array(8).fill(601)];
    const getRemainingTimeInMillis = () => times.shift() ?? 600;

    expect(await sweep({}, { getRemainingTimeInMillis })).toEqual({ sent: 160, failed: 0, waiting: 0 });
  });

  it("needs no context: then time is no limit", async () => {
    expect((await newBacklog().sweep({}, {})).sent).toBe(200);
    expect((await newBacklog().sweep()).sent).toBe(200);
  });

  it("H43: a shard that cannot be read fails the sweep, once the others have come to their end", async () => {
    const { state, options } = newBacklog();
    const findUnsent: Outbox["findUnsent"] = (shard, before) => {
      if (shard === 3) throw new Error("no index");
      return options.outbox.findUnsent(shard, before);
    };

    const sweep = outboxSweeper({ ...options, outbox: { ...options.outbox, findUnsent } });

    await expect(sweep()).rejects.toThrow("no index");
    expect(state).toEqual({ held: 0, peak: 70, marked: 175 });
  });
});
