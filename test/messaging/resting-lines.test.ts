// A FIFO destination that refuses: what its retries do to the commits that wait.
import { type OutboxSweeperOptions, outboxSweeper } from "onceonly/messaging";
import type { StoredMessage } from "onceonly/store-kit";
import { fakeClock, fakeRandom } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";
import { timeless } from "../kit/time/timeless.ts";
import { withOutbox } from "../kit/with-outbox.ts";

const URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";
const MINUTE = 61_000;

/** `a1` goes to a FIFO queue; `s1` goes to a standard queue. */
const messageOf = (name: string): StoredMessage => ({
  queue: `${URL}${name.startsWith("s") ? "mails" : "payments.fifo"}`,
  key: name,
  group: name.replace(/\d+$/, ""),
  body: name,
});

/** One commit for each list of messages, a millisecond apart. */
function newBacklog(commits: readonly (readonly string[])[], more: Partial<OutboxSweeperOptions> = {}) {
  const clock = fakeClock();
  const memory = new MemoryOutbox(() => {});
  const refused = new Set<string>();
  const [taken, asked, sent]: string[][] = [[], [], []];
  for (const [index, names] of commits.entries()) {
    const messages = names.map(messageOf);
    const recordKey = `op##${names[0]}`;
    memory.add({ recordKey, token: "mine", committedAt: clock.now() + index, messages });
  }
  const outbox = withOutbox(memory, {
    take: (recordKey, taking) => {
      taken!.push(recordKey.slice("op##".length));
      return memory.take(recordKey, taking);
    },
  });
  const sqs = {
    config: {},
    async send({ input }: { input: { Entries: { Id: string; MessageBody: string }[] } }) {
      const isRefused = ({ MessageBody }: { MessageBody: string }) => refused.has(MessageBody);
      asked!.push(...input.Entries.map(({ MessageBody }) => MessageBody));
      const passed = input.Entries.filter((entry) => !isRefused(entry));
      sent!.push(...passed.map(({ MessageBody }) => MessageBody));
      return {
        Successful: passed.map(({ Id }) => ({ Id, MessageId: Id })),
        Failed: input.Entries.filter(isRefused).map(({ Id }) => ({ Id, Code: "Refused", SenderFault: true })),
      };
    },
  };
  const sweeper = outboxSweeper({
    outbox,
    destinations: "any",
    sqs,
    clock: timeless(clock),
    random: fakeRandom("resting"),
    observe: () => {},
    ...more,
  });
  return {
    memory,
    refused,
    sent: sent!,
    /** One sweep after that much time: the commits that it took, and the messages that it tried to send. */
    async sweep(ms = MINUTE) {
      await clock.advance(ms);
      taken!.length = 0;
      asked!.length = 0;
      const report = await sweeper();
      return { report, taken: [...taken!], asked: [...asked!].sort() };
    },
  };
}

const NAMES = Array.from({ length: 30 }, (_, index) => `a${index + 1}`);
const COMMITS = NAMES.map((name) => [name]);

describe("outboxSweeper, while a line is refused", () => {
  it("R5: a retry takes the oldest commit and none of those that wait behind it, which follow in order", async () => {
    const backlog = newBacklog(COMMITS);
    backlog.refused.add("a1");
    expect((await backlog.sweep(2 * MINUTE)).taken).toHaveLength(30);

    const retry = await backlog.sweep();
    expect(retry).toEqual({ report: { sent: 0, failed: 1, waiting: 29 }, taken: ["a1"], asked: ["a1"] });
    // It isn't time for the next retry yet.
    expect(await backlog.sweep(1000)).toMatchObject({ report: { waiting: 30 }, taken: [] });
    backlog.refused.clear();
    expect((await backlog.sweep()).report).toEqual({ sent: 30, failed: 0, waiting: 0 });
    expect(backlog.sent).toEqual(NAMES);
    expect(await backlog.memory.readNotes()).toBe("{}");
  });

  it("R5: commits behind the oldest are still parked once they are too old", async () => {
    const backlog = newBacklog(COMMITS, { parkAfterSeconds: 3600 });
    backlog.refused.add("a1");
    await backlog.sweep(2 * MINUTE);
    await backlog.sweep();
    await backlog.sweep(70 * MINUTE);

    expect(await backlog.memory.count()).toEqual({ waiting: 0, parked: 30 });
  });

  it("R5: some of the commits that wait are taken nevertheless, so that none is forgotten if its note is lost", async () => {
    let fraction = 1 / 240;
    const backlog = newBacklog(COMMITS, { random: { ...fakeRandom("resting"), fraction: () => fraction } });
    backlog.refused.add("a1");
    await backlog.sweep(2 * MINUTE);

    expect((await backlog.sweep()).taken).toEqual(["a1"]);
    fraction -= Number.EPSILON;
    expect((await backlog.sweep()).taken).toHaveLength(30);
    backlog.refused.clear();
    await backlog.sweep();
    expect(backlog.sent).toEqual(NAMES);
  });

  it("R5: a message to a standard queue keeps its own retries while another message of its commit waits", async () => {
    const backlog = newBacklog([["a1"], ["a2", "s2"], ["a3"]]);
    backlog.refused.add("a1").add("s2");

    expect((await backlog.sweep(2 * MINUTE)).asked).toEqual(["a1", "s2"]);
    expect((await backlog.sweep()).asked).toEqual(["a1", "s2"]);
    await backlog.sweep(1000);
    expect((await backlog.sweep(20_000)).asked).toEqual([]);
    expect((await backlog.sweep(2 * MINUTE)).asked).toEqual(["a1", "s2"]);
    backlog.refused.clear();
    for (let sweeps = 0; sweeps < 4; sweeps++) await backlog.sweep();
    expect(backlog.sent.filter((name) => name !== "s2")).toEqual(["a1", "a2", "a3"]);
    expect(backlog.sent).toContain("s2");
  });
});
