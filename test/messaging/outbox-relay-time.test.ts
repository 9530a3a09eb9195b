// What the relay gets done in the time that an invocation has, and what it does with a batch that comes again.
import { type Outbox, outboxRelay, type StoredMessage, type Unsent } from "onceonly";
import { fakeClock, fakeRandom } from "onceonly/testing";
import { describe, expect, it } from "vitest";

const URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";
const TIMEOUT_MS = 30_000;

type MessageOf = (name: string) => StoredMessage;
const toFifo: MessageOf = (name) => ({ queue: `${URL}hot.fifo`, key: name, group: "hot", body: name });
const toStandard: MessageOf = (name) => ({ queue: `${URL}mails`, key: name, body: name });

interface Slowness {
  readonly sendMs?: number;
  readonly loadMs?: number;
}

/** A stream of so many commits of one message each, named by their places in it; a relay; and what reaches SQS. */
function newStream(count: number, messageOf: MessageOf, { sendMs = 0, loadMs = 0 }: Slowness = {}) {
  const clock = fakeClock();
  const committedAt = clock.now();
  const marked = new Set<string>();
  const accepted: string[] = [];
  const state = { refused: "", isDead: false };
  const names = Array.from({ length: count }, (_, place) => String(place));
  const unsentOf = (name: string): Unsent => ({
    recordKey: `op##${name}`,
    token: name,
    committedAt,
    messages: [messageOf(name)],
  });
  const take = async (ms: number) => {
    if (ms > 0) await clock.sleep(ms);
    if (state.isDead) await new Promise(() => {});
  };
  const outbox: Outbox = {
    readChange: (change) => {
      const unsent = unsentOf((change as (typeof batch.Records)[number]).dynamodb.SequenceNumber);
      return { ...unsent, unsent };
    },
    async load(recordKey) {
      await take(loadMs);
      return marked.has(recordKey) ? undefined : unsentOf(recordKey.slice("op##".length));
    },
    async *findUnsent() {},
    async markSent({ recordKey }) {
      await take(0);
      marked.add(recordKey);
    },
  };
  const send = async ({ input }: { input: { Entries: { Id: string; MessageBody: string }[] } }) => {
    await take(sendMs);
    const passed = input.Entries.filter(({ MessageBody }) => MessageBody !== state.refused);
    accepted.push(...passed.map(({ MessageBody }) => MessageBody));
    return {
      Successful: passed.map(({ Id }) => ({ Id, MessageId: Id })),
      Failed: input.Entries.filter((entry) => !passed.includes(entry)).map(({ Id }) => ({
        Id,
        Code: "Refused",
        SenderFault: true,
      })),
    };
  };
  const options = {
    outbox,
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
    /** The SDK's package is loaded by the first send, which takes time that no clock knows. */
    async warmUp(): Promise<void> {
      await import("@aws-sdk/client-sqs");
    },
  };
}

describe("outboxRelay, in the time of an invocation", () => {
  it("H33, H42: a batch that takes longer than the invocation is sent over several, in order, once", async () => {
    // A group sends one message after the other: 100 take 50 seconds.
    const stream = newStream(100, toFifo, { sendMs: 500 });
    await stream.warmUp();

    const next = await stream.invoke();

    expect(next).toBe(50);
    expect(stream.marked.size).toBe(50);
    expect(await stream.invoke(50)).toBe(100);
    expect(stream.accepted).toEqual(stream.names);
  });

  it("H33, H42: what was marked before a timeout is not sent again: each try gets further", async () => {
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

  it("H34: looking up what waited long takes time too, whether it was sent meanwhile or not", async () => {
    const stream = newStream(10_000, toStandard, { loadMs: 5 });
    await stream.warmUp();
    await stream.clock.advance(3_600_000);
    for (const name of stream.names.slice(0, 9000)) stream.marked.add(`op##${name}`);

    const first = Number(await stream.invoke());
    const second = Number(await stream.invoke(first));

    expect(first).toBeGreaterThan(4000);
    expect(second).toBeGreaterThan(first);
    expect(await stream.invoke(second)).toBe(10_000);
    expect(stream.accepted).toEqual(stream.names.slice(9000));
  });

  it("H35: what cannot be sent holds up its group to the end of the batch, and no other group", async () => {
    const stream = newStream(
      30,
      (name) => ({ ...toFifo(name), group: Number(name) % 2 ? "odd" : "even" }) as StoredMessage,
    );
    await stream.warmUp();
    stream.state.refused = "4";

    expect(await stream.invoke()).toBe(4);

    const sent = stream.accepted.map(Number);
    expect(sent.filter((name) => name % 2 === 0)).toEqual([0, 2]);
    expect(sent.filter((name) => name % 2 === 1)).toEqual(
      Array.from({ length: 15 }, (_, index) => 2 * index + 1),
    );
    stream.state.refused = "";
    expect(await stream.invoke(4)).toBe(30);
    expect(stream.accepted.map(Number).filter((name) => name % 2 === 0)).toEqual(
      Array.from({ length: 15 }, (_, index) => 2 * index),
    );
    expect(stream.accepted).toHaveLength(30);
  });

  it("H33, H42: out of time after a failure, it begins again at the failure", async () => {
    const stream = newStream(1000, toStandard, { sendMs: 500 });
    await stream.warmUp();
    stream.state.refused = "4";

    expect(await stream.invoke()).toBe(4);

    expect(stream.marked.size).toBeGreaterThan(100);
    expect(stream.marked.size).toBeLessThan(999);
  });

  it("H33: a batch that comes again at once does not send again what is marked", async () => {
    const stream = newStream(3, toStandard);
    await stream.warmUp();
    stream.state.refused = "0";

    for (let time = 0; time < 3; time++) expect(await stream.invoke()).toBe(0);
    stream.state.refused = "";
    expect(await stream.invoke()).toBe(3);

    expect(stream.accepted).toEqual(["1", "2", "0"]);
  });
});
