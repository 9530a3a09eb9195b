import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { OutgoingMessage } from "../../lib/core/messages/outgoing-message.ts";
import type { AwsClientLike } from "../../lib/messaging/clients.ts";
import { MessageProducer } from "../../lib/messaging/message-producer.ts";
import { GROUP_ARN, ROLE_ARN } from "../kit/fake-scheduler.ts";
import { failureOf, messagesOf, newWorld, type World } from "./given.ts";

const REMINDERS = "https://sqs.us-east-1.amazonaws.com/000000000000/reminders";

/** A client that never answers, and is asked with these signals. */
function hanging(onRequest = () => {}) {
  const signals: AbortSignal[] = [];
  const send = (_: unknown, { abortSignal }: { abortSignal?: AbortSignal } = {}) => {
    signals.push(abortSignal!);
    onRequest();
    return new Promise(() => {});
  };
  return { client: { config: {}, send }, signals };
}

/** The same by either producer. */
const producersOf = ({ newProducer, newMessageProducer, queueUrl }: World) => [
  (client: AwsClientLike, names: string[], until: { signal: AbortSignal }) =>
    newProducer({ client }).sendBatch(messagesOf(...names), until),
  (client: AwsClientLike, names: string[], until: { signal: AbortSignal }) => {
    const messages = messagesOf(...names).map((message) => ({ queue: queueUrl, ...message }));
    return newMessageProducer({ sqs: client }).sendBatch(messages, until);
  },
];

let world: World;

beforeEach(async () => {
  world = await newWorld();
});

afterEach(() => world.stop());

describe("FifoProducer.sendBatch", () => {
  it("ends with the first request that fails as a whole, and passes on why", async () => {
    const gone = world.newProducer({ queueUrl: world.queueUrl.replace(/queue-/, "missing-") });
    const names = Array.from({ length: 12 }, (_, index) => `${"g".repeat(index + 1)}1`);

    const error = await failureOf(gone.sendBatch(messagesOf(...names)));

    expect(error.failed.map(({ code }) => code)).toEqual([
      ...Array(10).fill("QueueDoesNotExist"),
      ...Array(2).fill("NotAttempted"),
    ]);
    expect(error.cause).toMatchObject({ name: "QueueDoesNotExist" });
  });

  it.each([
    [Object.assign(new Error("refused"), { code: "ECONNREFUSED" }), "ECONNREFUSED"],
    [new Error("anything"), "Error"],
    [new TypeError("a bug"), "TypeError"],
    ["a text", "Error"],
    [Object.assign(new Error("odd"), { name: "of order-7 at https://sqs" }), "Error"],
    [Object.assign(new Error("odd"), { code: "E".repeat(65) }), "Error"],
    [Object.assign(new Error("odd"), { code: 7 }), "Error"],
    [undefined, "Error"],
  ])("names the value that a client throws (%s)", async (thrown, code) => {
    const client = { config: {}, send: () => Promise.reject(thrown) };

    const error = await failureOf(world.newProducer({ client }).send(messagesOf("a1")[0]!));

    expect(error).toMatchObject({ code: "SEND_FAILED", failed: [{ id: "0", code }] });
    expect(error.cause).toBe(thrown);
  });

  it("H80: R2: ends when a client without timeouts never responds, and asks it to stop", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const signals: AbortSignal[] = [];
      const send = (_: unknown, { abortSignal }: { abortSignal?: AbortSignal } = {}) => {
        if (abortSignal) signals.push(abortSignal);
        return new Promise(() => {});
      };
      const client = { config: {}, send };
      const [message] = messagesOf("a1");
      const fifo = failureOf(world.newProducer({ client }).send(message!));
      const any = failureOf(
        new MessageProducer({ sqs: client }).send({ queue: world.queueUrl, ...message! }),
      );
      await vi.advanceTimersByTimeAsync(10_000);

      for (const error of [await fifo, await any])
        expect(error).toMatchObject({
          code: "SEND_FAILED",
          failed: [{ id: "0", code: "TimeoutError" }],
          cause: { message: "no response within 10000 ms" },
        });
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("H80: R2: ends as soon as the signal of its caller aborts, and aborts the client's request", async () => {
    for (const send of producersOf(world)) {
      const stop = new AbortController();
      const { client, signals } = hanging(() =>
        stop.abort(new DOMException("the invocation ends", "AbortError")),
      );

      const error = await failureOf(send(client, ["a1", "a2", "b1"], stop));

      expect(error.failed.map(({ code }) => code)).toEqual(["AbortError", "NotAttempted", "AbortError"]);
      expect(error.cause).toBe(stop.signal.reason);
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    }
  });

  it.each<[string, OutgoingMessage]>([
    ["sns", { topic: "arn:aws:sns:us-east-1:000000000000:orders", key: "a", body: "a" }],
    ["eventBridge", { bus: "default", source: "shop", detailType: "paid", key: "a", body: {} }],
    ["scheduler", { queue: REMINDERS, key: "a", body: "a", deliverAt: new Date(Date.UTC(2999, 0)) }],
  ])("H80: R2: aborts a request to %s, too", async (kind, message) => {
    const stop = new AbortController();
    const { client, signals } = hanging(() => stop.abort());
    const scheduler = { groupArn: GROUP_ARN, roleArn: ROLE_ARN, client };
    const producer = world.newMessageProducer(kind === "scheduler" ? { scheduler } : { [kind]: client });

    expect((await failureOf(producer.send(message, stop))).failed).toEqual([{ id: "0", code: "AbortError" }]);

    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it("H80: R2: sends nothing, and nothing more, once the signal has aborted", async () => {
    for (const send of producersOf(world)) {
      const stopped = new AbortController();
      stopped.abort();
      const { client, signals } = hanging();
      const none = await failureOf(send(client, ["a1"], stopped));
      expect([none.failed, none.cause]).toEqual([[{ id: "0", code: "NotAttempted" }], stopped.signal.reason]);

      expect(signals).toEqual([]);
    }
  });

  it("H80: R2: a signal that aborts in the pause before the next try ends the pause, and no try follows", async () => {
    const stop = new AbortController();
    const paused: (AbortSignal | undefined)[] = [];
    const sleep = async (_: number, signal?: AbortSignal) => {
      paused.push(signal);
      stop.abort();
    };
    let requests = 0;
    const throttled = async () => {
      requests += 1;
      return { Failed: [{ Id: "0", Code: "ThrottlingException", SenderFault: false }] };
    };
    const producer = world.newProducer({
      client: { config: {}, send: throttled },
      clock: { now: () => 0, sleep },
    });

    const error = await failureOf(producer.send(messagesOf("a1")[0]!, stop));

    expect(error.failed).toEqual([{ id: "0", code: "NotAttempted" }]);
    expect([paused, requests]).toEqual([[stop.signal], 1]);
  });

  it("H80: R2: sends as ever while the signal has not aborted, and leaves no listener on it", async () => {
    const { signal } = new AbortController();
    const listening = new Set<unknown>();
    vi.spyOn(signal, "addEventListener").mockImplementation((_, listener) => void listening.add(listener));
    vi.spyOn(signal, "removeEventListener").mockImplementation(
      (_, listener) => void listening.delete(listener),
    );
    const [first, second] = messagesOf("a1", "b1");

    await world.producer.sendBatch([first!], { signal });
    await world.newMessageProducer().send({ queue: world.queueUrl, ...second! }, { signal });
    await world.producer.resend({ ...first!, attempt: 1 }, { signal });

    expect(await world.drain()).toHaveLength(3);
    expect(listening.size).toBe(0);
  });

  it.each([{}, { getRemainingTimeInMillis: () => 1000 }, new AbortController().signal, 7, null])(
    "H80: R2: rejects a request without a signal, before anything is sent (%j)",
    async (until) => {
      for (const send of producersOf(world)) {
        const { client, signals } = hanging();
        await expect(send(client, ["a1"], until as never)).rejects.toThrow("`signal` must be an AbortSignal");
        expect(signals).toEqual([]);
      }
    },
  );

  it("H38: a service's free text isn't used as a code, and appears in no error", async () => {
    const Code = "Invalid: the body of order-7";
    const client = { config: {}, send: async () => ({ Failed: [{ Id: "0", Code, SenderFault: true }] }) };

    const error = await failureOf(world.newProducer({ client }).send(messagesOf("a1")[0]!));

    expect(error.failed).toEqual([{ id: "0", code: "Error" }]);
    expect(JSON.stringify([error, error.message, error.results])).not.toContain("order-7");
  });

  it("tries a message again that a response doesn't mention", async () => {
    let requests = 0;
    const client = { config: {}, send: async () => (requests++ === 0 ? {} : { Successful: [{ Id: "0" }] }) };

    expect(await world.newProducer({ client }).sendBatch(messagesOf("a1"))).toEqual([
      { sent: true, messageId: "", sequenceNumber: "" },
    ]);
    const silent = world.newProducer({ client: { config: {}, send: async () => ({}) } });
    expect((await failureOf(silent.sendBatch(messagesOf("a1")))).failed).toEqual([
      { id: "0", code: "NoAnswer" },
    ]);
  });
});
