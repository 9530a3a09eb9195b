// What the relay gets done in the time that an invocation has, and what it does with a batch that comes again.
import { outboxRelay, outboxSweeper } from "onceonly/messaging";
import type { StoredMessage, Unsent } from "onceonly/store-kit";
import { fakeClock, fakeRandom } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";
import { refusingSend } from "../kit/faults/refusing-send.ts";
import { withOutbox } from "../kit/with-outbox.ts";

const URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";
const TIMEOUT_MS = 30_000;

type MessageOf = (name: string) => StoredMessage;
const toFifo: MessageOf = (name) => ({ queue: `${URL}hot.fifo`, key: name, group: "hot", body: name });
const toStandard: MessageOf = (name) => ({ queue: `${URL}mails`, key: name, body: name });

interface Slowness {
  readonly sendMs?: number;
  readonly takeMs?: number;
}

/** A stream of so many commits of one message each, named by their places in it; a relay; and what reaches SQS. */
function newStream(count: number, messageOf: MessageOf, { sendMs = 0, takeMs = 0 }: Slowness = {}) {
  const clock = fakeClock();
  const marked = new Set<string>();
  const accepted: string[] = [];
  const state = { refused: "", unmarkable: "", isDead: false, requests: 0 };
  const names = Array.from({ length: count }, (_, place) => String(place));
  const memory = new MemoryOutbox(({ recordKey }) => marked.add(recordKey));
  for (const name of names) {
    const commit = { recordKey: `op##${name}`, token: name, committedAt: clock.now() };
    memory.add({ ...commit, messages: [messageOf(name)] });
  }
  const slowly = async <T>(ms: number, request: () => Promise<T>): Promise<T> => {
    state.requests++;
    if (ms > 0) await clock.sleep(ms);
    if (state.isDead) await new Promise(() => {});
    return request();
  };
  const images = new Map(memory.changes.map((change) => [change, memory.readChange(change)]));
  const outbox = withOutbox(memory, {
    readChange: (change) =>
      structuredClone(
        images.get(`op##${(change as (typeof batch.Records)[number]).dynamodb.SequenceNumber}`),
      ),
    take: (...taking) => slowly(takeMs, () => memory.take(...taking)),
    keep: (...kept) => slowly(0, () => memory.keep(...kept)),
    readNotes: () => slowly(0, () => memory.readNotes()),
    replaceNotes: (...notes) => slowly(0, () => memory.replaceNotes(...notes)),
    markSent: (...sent) =>
      slowly(0, async () => {
        if (sent[0].token === state.unmarkable) throw new Error("the table does not answer");
        return memory.markSent(...sent);
      }),
  });
  const sendNow = refusingSend(state, accepted);
  const send = (batch: Parameters<typeof sendNow>[0]) => slowly(sendMs, () => sendNow(batch));
  const options = {
    outbox,
    destinations: "any" as const,
    sqs: { config: {}, send },
    clock,
    random: fakeRandom("time"),
    observe: () => {},
  };
  const batch = { Records: names.map((SequenceNumber) => ({ dynamodb: { SequenceNumber } })) };
  let relay = outboxRelay(options);

  return {
    clock,
    names,
    marked,
    accepted,
    state,
    memory,
    /** One invocation with all from `from` on; answers where the next one begins, `"killed"` where it ran out of time. */
    async invoke(from = 0, knowsItsTime = true): Promise<number | "killed"> {
      const deadline = clock.now() + TIMEOUT_MS;
      const context = { getRemainingTimeInMillis: () => deadline - clock.now() };
      const Records = batch.Records.slice(from);
      const over = new AbortController();
      const answer = relay({ Records }, knowsItsTime ? context : undefined);
      const end = await clock.run(
        Promise.race([answer, clock.sleep(TIMEOUT_MS, over.signal).then(() => "killed" as const)]),
      );
      over.abort();
      if (end === "killed") {
        state.isDead = true;
        await clock.advance(TIMEOUT_MS);
        state.isDead = false;
        relay = outboxRelay(options);
        return end;
      }
      return end.batchItemFailures[0] ? Number(end.batchItemFailures[0].itemIdentifier) : count;
    },
    /** One invocation of a sweeper, which has all the time there is. */
    async sweep() {
      await clock.advance(61_000);
      return clock.run(outboxSweeper(options)());
    },
    /** The SDK's package is loaded by the first send, which takes time that no clock knows. */
    async warmUp(): Promise<void> {
      await import("@aws-sdk/client-sqs");
    },
  };
}

describe("outboxRelay, in the time of an invocation", () => {
  it("H33, H42: a batch that lasts longer than the invocation is sent over several, in order, once", async () => {
    // A group sends one message after the other: 100 take 50 seconds.
    const stream = newStream(100, toFifo, { sendMs: 500 });
    await stream.warmUp();

    const next = await stream.invoke();

    expect(next).toBe(48);
    expect(stream.marked.size).toBe(48);
    expect(await stream.invoke(48)).toBe(96);
    expect(await stream.invoke(96)).toBe(100);
    expect(stream.accepted).toEqual(stream.names);
  });

  it("H33, H42: a commit marked before a timeout is not sent again: each try gets further", async () => {
    const stream = newStream(100, toFifo, { sendMs: 500 });
    await stream.warmUp();

    // Lambda repeats the whole batch.
    expect(await stream.invoke(0, false)).toBe("killed");
    const marked = stream.marked.size;
    expect(marked).toBeGreaterThanOrEqual(40);
    expect(await stream.invoke(0, false)).toBe(100);

    expect(stream.marked.size).toBe(100);
    expect(stream.accepted.length).toBeLessThan(100 + 20);
    expect([...new Set(stream.accepted)]).toEqual(stream.names);
  });

  it("H34: looking up commits that waited long costs time too, whether they were sent in between or not", async () => {
    const stream = newStream(10_000, toStandard, { takeMs: 5 });
    await stream.warmUp();
    await stream.clock.advance(3_600_000);
    for (const name of stream.names.slice(0, 9000)) {
      await stream.memory.markSent({ recordKey: `op##${name}`, token: name } as Unsent);
    }

    const first = Number(await stream.invoke());
    const second = Number(await stream.invoke(first));

    expect(first).toBeGreaterThan(4000);
    expect(second).toBeGreaterThan(first);
    expect(await stream.invoke(second)).toBe(10_000);
    expect(stream.accepted).toEqual(stream.names.slice(9000));
  });

  it("H35: a message that can't be sent is left to the sweeper with its group, in order, and no other group waits", async () => {
    const stream = newStream(
      30,
      (name) => ({ ...toFifo(name), group: Number(name) % 2 ? "odd" : "even" }) as StoredMessage,
    );
    await stream.warmUp();
    stream.state.refused = "4";
    const even = Array.from({ length: 15 }, (_, index) => 2 * index);
    const sentOf = (parity: number) => stream.accepted.map(Number).filter((name) => name % 2 === parity);

    expect(await stream.invoke()).toBe(30);

    expect(sentOf(0)).toEqual([0, 2]);
    expect(sentOf(1)).toEqual(even.map((name) => name + 1));
    stream.state.refused = "";
    expect(await stream.sweep()).toEqual({ sent: 13, failed: 0, waiting: 0 });
    expect(sentOf(0)).toEqual(even);
    expect(stream.accepted).toHaveLength(30);
  });

  it("H33, H42: messages that can't be sent don't delay the others, if no order has to be kept", async () => {
    const stream = newStream(1000, toStandard, { sendMs: 500 });
    await stream.warmUp();
    stream.state.refused = "4";

    const next = Number(await stream.invoke());

    expect(next).toBeGreaterThan(100);
    expect(stream.marked.size).toBe(next - 1);
  });

  it("H33: a batch that is redelivered immediately requests nothing for completed commits", async () => {
    const stream = newStream(30, toFifo);
    await stream.warmUp();
    stream.state.unmarkable = "20";

    expect(await stream.invoke()).toBe(20);
    stream.state.requests = 0;
    stream.state.unmarkable = "";
    expect(await stream.invoke()).toBe(30);

    // The commit that could not be marked is taken, sent and marked, after a look whether its group waits.
    expect(stream.accepted).toEqual([...stream.names, "20"]);
    expect(stream.state.requests).toBe(4);
  });
});
