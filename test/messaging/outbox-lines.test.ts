// Which commits of a shard wait for which, where they have messages in several groups and destinations.
import { type OutgoingMessage, RecordCorruptError, StoreUnavailableError } from "onceonly";
import { outboxSweeper, type QueueMessage } from "onceonly/messaging";
import type { StoredMessage } from "onceonly/store-kit";
import { fakeClock, fakeRandom } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import type { FoundUnsent } from "../../lib/core/messages/outbox.ts";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";
import { timeless } from "../kit/time/timeless.ts";
import { withOutbox } from "../kit/with-outbox.ts";

const URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";

const to = (queue: string, name: string): OutgoingMessage => ({
  queue: `${URL}${queue}`,
  key: name,
  group: name.replace(/\d+$/, ""),
  body: name,
});
const fifo = (name: string) => to("payments.fifo", name) as QueueMessage;

/**
 * Sweeps one shard with these commits, one after the other, while one message is refused; answers what was accepted. In the
 * place of a commit, what taking it fails with.
 */
async function sweep(refused: string, ...commits: readonly (OutgoingMessage[] | Error)[]) {
  const accepted: string[] = [];
  const errors: unknown[] = [];
  const clock = fakeClock();
  const memory = new MemoryOutbox(() => {});
  for (const [index, given] of commits.entries()) {
    const messages = (given instanceof Error ? [fifo("x1")] : given) as StoredMessage[];
    memory.add({ recordKey: `op##${index}`, token: "mine", committedAt: clock.now() + index, messages });
  }
  await clock.advance(61_000);
  const outbox = withOutbox(memory, {
    shards: 1,
    async take(recordKey, taking) {
      const given = commits[Number(recordKey.slice("op##".length))];
      if (given instanceof Error) throw given;
      return memory.take(recordKey, taking);
    },
    // All are in one shard, whatever groups they have.
    async *findUnsent(_, before) {
      const all: FoundUnsent[] = [];
      for (let shard = 0; shard < 8; shard++) {
        for await (const page of memory.findUnsent(shard, before)) all.push(...page);
      }
      yield all.sort((one, other) => one.dueAt - other.dueAt);
    },
  });
  const answer = (entries: readonly { readonly Id: string }[], bodies: readonly string[]) => {
    const passed = entries.filter((_, index) => bodies[index] !== refused);
    accepted.push(...bodies.filter((body) => body !== refused));
    return {
      Successful: passed.map(({ Id }) => ({ Id, MessageId: Id })),
      Failed: entries
        .filter((entry) => !passed.includes(entry))
        .map(({ Id }) => ({ Id, Code: "Refused", SenderFault: true })),
    };
  };
  const clientOf = (field: string, text: string) => ({
    config: {},
    async send({ input }: { input: Record<string, Record<string, string>[]> }) {
      const entries = input[field] as (Record<string, string> & { Id: string })[];
      return answer(
        entries,
        entries.map((entry) => String(entry[text])),
      );
    },
  });
  const run = outboxSweeper({
    outbox,
    destinations: "any",
    sqs: clientOf("Entries", "MessageBody"),
    sns: clientOf("PublishBatchRequestEntries", "Message"),
    clock: timeless(clock),
    random: fakeRandom("lines"),
    observe: ({ error }) => {
      if (error !== undefined) errors.push((error as { code: string }).code);
    },
  });
  return { accepted, report: await run(), errors };
}

describe("outboxSweeper, in one shard", () => {
  it("H35: D3, a waiting message holds up its own group, and no other group of its commit", async () => {
    const { accepted, report } = await sweep(
      "a1",
      [fifo("a1")],
      [fifo("a2"), fifo("b1")],
      [fifo("b2"), fifo("c1")],
      [fifo("c2")],
      [fifo("d1")],
    );

    expect(accepted.sort()).toEqual(["b1", "b2", "c1", "c2", "d1"]);
    expect(report).toEqual({ sent: 3, failed: 1, waiting: 1 });
  });

  it("H35: D3, a commit that failed in one of its groups holds up those after it in that group only", async () => {
    const { accepted, report } = await sweep(
      "a1",
      [fifo("a1"), fifo("b1")],
      [fifo("b2")],
      [fifo("a2"), fifo("c1")],
    );

    expect(accepted).toEqual(["b1", "c1", "b2"]);
    expect(report).toEqual({ sent: 1, failed: 1, waiting: 1 });
  });

  it("groups of one name in two queues do not wait for each other", async () => {
    const { accepted } = await sweep("a1", [fifo("a1")], [to("mails.fifo", "a2")]);

    expect(accepted).toEqual(["a2"]);
  });

  it("if nothing is ordered, nothing waits: in standard queues, with a group or without", async () => {
    const { accepted, report } = await sweep(
      "a1",
      [to("payments", "a1")],
      [to("payments", "a2")],
      [{ queue: `${URL}payments`, key: "b1", body: "b1" }],
    );

    expect(accepted).toEqual(["a2", "b1"]);
    expect(report).toEqual({ sent: 2, failed: 1, waiting: 0 });
  });

  it("H35: a group of a FIFO topic stops as one of a queue does, and they do not wait for each other", async () => {
    const toTopic = (name: string): OutgoingMessage => {
      const { key, group, body } = fifo(name);
      return { topic: "arn:aws:sns:eu-central-1:123456789012:payments.fifo", key, group, body };
    };

    const { accepted, report } = await sweep("a1", [toTopic("a1")], [toTopic("a2")], [fifo("a3")]);

    expect(accepted).toEqual(["a3"]);
    expect(report).toEqual({ sent: 1, failed: 1, waiting: 1 });
  });

  it("H35: an unreadable commit may be of any group: nothing after it is sent", async () => {
    const unreachable = new StoreUnavailableError("throttled", new Error("slow down"));

    const { accepted, report, errors } = await sweep(
      "",
      [fifo("a1")],
      unreachable,
      [fifo("a2")],
      [fifo("b1")],
    );

    expect(accepted).toEqual(["a1"]);
    expect(report).toEqual({ sent: 1, failed: 1, waiting: 2 });
    expect(errors).toEqual(["STORE_UNAVAILABLE"]);
  });

  it("a commit that can never be read is reported, and holds up no other", async () => {
    const corrupt = new RecordCorruptError("of a later version");

    const { accepted, report, errors } = await sweep("", [fifo("a1")], corrupt, [fifo("a2")], [fifo("b1")]);

    expect(accepted.sort()).toEqual(["a1", "a2", "b1"]);
    expect(report).toEqual({ sent: 3, failed: 1, waiting: 0 });
    expect(errors).toEqual(["RECORD_CORRUPT"]);
  });
});
