// How much the sweeper takes on: little at once, and nothing more when its time is nearly over.
import { outboxSweeper } from "onceonly/messaging";
import type { StoredMessage } from "onceonly/store-kit";
import { fakeClock, fakeRandom } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";
import { timeless } from "../kit/time/timeless.ts";
import { withOutbox } from "../kit/with-outbox.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";

/** Groups of which each has a shard of its own, of eight. */
const GROUPS = ["0", "1", "2", "4", "31", "9", "8", "22"];

/** 25 commits in each of 8 shards, which the index answers with in two pages. */
async function newBacklog() {
  const clock = fakeClock();
  const state = { held: 0, peak: 0, marked: 0 };
  const memory = new MemoryOutbox(() => {
    state.held -= 1;
    state.marked += 1;
  });
  for (const group of GROUPS) {
    for (let index = 0; index < 25; index++) {
      const key = `${group}-${index}`;
      const messages: StoredMessage[] = [{ queue: QUEUE, key, group, body: key }];
      memory.add({ recordKey: `op##${key}`, token: "mine", committedAt: clock.now() + index, messages });
    }
  }
  await clock.advance(61_000);
  const outbox = withOutbox(memory, {
    async take(...taking) {
      const taken = await memory.take(...taking);
      state.held += Number(taken.state === "taken");
      state.peak = Math.max(state.peak, state.held);
      return taken;
    },
    async *findUnsent(shard, before) {
      for await (const page of memory.findUnsent(shard, before)) {
        yield page.slice(0, 24);
        yield page.slice(24);
      }
    },
  });
  const send = async ({ input }: { input: { Entries: { Id: string; MessageBody: string }[] } }) => {
    return { Successful: input.Entries.map(({ Id }) => ({ Id, MessageId: Id })) };
  };
  const options = {
    outbox,
    destinations: "any" as const,
    sqs: { config: {}, send },
    clock,
    random: fakeRandom("limits"),
    observe: () => {},
  };
  const found = await Promise.all(
    Array.from({ length: 8 }, async (_, shard) => {
      for await (const page of memory.findUnsent(shard, clock.now())) return page.length;
      return 0;
    }),
  );
  expect(found).toEqual(Array(8).fill(25));
  return { state, options, sweep: outboxSweeper(options) };
}

/** Says these times one after the other, and then the last one. */
const timesOf = (...times: number[]) => ({
  getRemainingTimeInMillis: () => (times.length > 1 ? times.shift() : times[0]) as number,
});

describe("outboxSweeper", () => {
  it("holds 10 commits of each shard at most, since each may have megabytes of messages", async () => {
    const { state, sweep } = await newBacklog();

    expect(await sweep()).toEqual({ sent: 200, failed: 0, waiting: 0 });

    expect(state.peak).toBe(80);
  });

  it("holds 10 commits of 8 shards at most, even if there are more shards", async () => {
    const { state, options } = await newBacklog();
    const outbox = withOutbox(options.outbox, { shards: 20 });

    expect(await outboxSweeper({ ...options, outbox })()).toEqual({ sent: 200, failed: 0, waiting: 0 });

    expect(state.peak).toBe(80);
  });

  it("takes nothing more with less than 6 seconds left, keeps what it did, and releases what it did not do", async () => {
    const { state, sweep } = await newBacklog();
    let asked = 0;
    const getRemainingTimeInMillis = () => (asked++ < 200 ? 30_000 : 6000);

    const { sent, failed, waiting } = await sweep({}, { getRemainingTimeInMillis });

    expect(sent).toBeGreaterThan(50);
    expect(sent).toBeLessThan(200);
    expect([failed, sent]).toEqual([0, state.marked]);
    // Nobody has to wait until they come back by themselves.
    expect(await sweep()).toEqual({ sent: 200 - sent, failed: 0, waiting: 0 });
    expect(waiting).toBeGreaterThanOrEqual(0);
  });

  it("H34, H42: sends something even if the function has 3 seconds in all, as Lambda gives by default", async () => {
    const { sweep } = await newBacklog();

    const { sent } = await sweep({}, timesOf(...Array(300).fill(3000), 750));

    expect(sent).toBeGreaterThan(10);
    expect(sent).toBeLessThan(200);
  });

  it("needs no context: then time is no limit", async () => {
    expect((await (await newBacklog()).sweep({}, {})).sent).toBe(200);
    expect((await (await newBacklog()).sweep()).sent).toBe(200);
  });

  it("H43: a shard that cannot be read fails the sweep, once the others have come to their end", async () => {
    const { state, options } = await newBacklog();
    const outbox = withOutbox(options.outbox, {
      findUnsent(shard, before) {
        if (shard === 3) throw new Error("no index");
        return options.outbox.findUnsent(shard, before);
      },
    });

    const sweep = outboxSweeper({ ...options, outbox });

    await expect(sweep()).rejects.toThrow("no index");
    expect(state).toEqual({ held: 0, peak: 70, marked: 175 });
  });

  describe("N4: the lease of a sweep", () => {
    /** A backlog whose sweep notes its leases, while the clock moves on by `ms` with each commit that it takes. */
    async function newLeases(ms: number) {
      const { options, state } = await newBacklog();
      const startedAt = options.clock.now();
      const leases: string[] = [];
      const taken = { count: 0, isRefused: false };
      const outbox = withOutbox(options.outbox, {
        async leaseSweep({ now, until }) {
          leases.push(until === 0 ? "ends" : `${now - startedAt} to ${until - startedAt}`);
          return !taken.isRefused || taken.count === 0;
        },
        async take(...taking) {
          taken.count += 1;
          return options.outbox.take(...taking);
        },
      });
      const clock = { ...timeless(), now: () => startedAt + taken.count * ms };
      return { leases, taken, state, sweep: outboxSweeper({ ...options, outbox, clock }) };
    }

    it("is extended while the sweep continues, by one request for all shards", async () => {
      const { leases, sweep } = await newLeases(100);

      expect((await sweep()).sent).toBe(200);

      // 200 commits take 20 seconds.
      expect(leases).toEqual(["0 to 30000", "10000 to 40000", "20000 to 50000", "ends"]);
    });

    it("is one for the whole invocation, if that is short", async () => {
      const { leases, sweep } = await newLeases(100);

      await sweep({}, { getRemainingTimeInMillis: () => 20_000 });

      expect(leases).toEqual(["0 to 25000", "ends"]);
    });

    it("ends the sweep when another sweep has the outbox by now", async () => {
      const { leases, taken, sweep } = await newLeases(200);
      taken.isRefused = true;

      expect((await sweep()).sent).toBe(80);

      expect(leases).toEqual(["0 to 30000", "16000 to 46000"]);
    });

    it("does not change the report when it can't be released", async () => {
      const { options } = await newBacklog();
      const outbox = withOutbox(options.outbox, {
        async leaseSweep({ until }) {
          if (until === 0) throw new Error("unreachable");
          return true;
        },
      });

      expect((await outboxSweeper({ ...options, outbox })()).sent).toBe(200);
    });
  });
});
