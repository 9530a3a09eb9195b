import { SQS, type SQSServiceException } from "@aws-sdk/client-sqs";
import { beforeEach, describe, expect, it } from "vitest";
import { canHave } from "../../lib/simulator/exchange.ts";
import { Simulator } from "../../lib/simulator/simulator.ts";

const START = 1_700_000_000_000;
const TIMEOUTS = { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true };

let aws: Simulator;
let healthy: string;
let other: string;

beforeEach(() => {
  aws = new Simulator();
  healthy = aws.queue("healthy");
  other = aws.queue("other");
});

const sqs = new SQS({ requestHandler: TIMEOUTS, maxAttempts: 2 });

/** Sends to both queues at once; answers how each of them ended, and when. */
const sendToBoth = () =>
  aws.run(async () => {
    const fn = aws.lambda(() =>
      Promise.all(
        [healthy, other].map(async (QueueUrl) => {
          const name = await sqs.sendMessage({ QueueUrl, MessageBody: "x" }).then(
            () => "sent",
            (error: SQSServiceException) => error.name,
          );
          return { name, seconds: Math.floor((Date.now() - START) / 1000) };
        }),
      ),
    );
    const invocation = await fn.invoke({});
    return invocation.outcome === "returned" ? invocation.value : invocation;
  });

const messagesIn = (url: string) => aws.sqs.backlog(url).messages;

describe("a destination", () => {
  it("that never answers makes its own senders wait, for as long as their clients do", async () => {
    aws.faults = ({ target }) => (target === "other" ? { kind: "unanswered" } : undefined);

    expect(await sendToBoth()).toEqual([
      { name: "sent", seconds: 0 },
      { name: "TimeoutError", seconds: 6 },
    ]);
    expect([messagesIn(healthy), messagesIn(other)]).toEqual([1, 0]);
  });

  it("whose answers never arrive has the message once for each try", async () => {
    aws.faults = ({ target }) => (target === "other" ? { kind: "unanswered", when: "after" } : undefined);

    expect(await sendToBoth()).toMatchObject([{ name: "sent" }, { name: "TimeoutError" }]);
    expect(messagesIn(other)).toBe(2);
  });

  it("that always rejects says why, and stores nothing", async () => {
    aws.faults = ({ target }) =>
      target === "other" ? { kind: "refused", code: "QueueDoesNotExist" } : undefined;

    expect(await sendToBoth()).toMatchObject([{ name: "sent" }, { name: "QueueDoesNotExist" }]);
    expect(messagesIn(other)).toBe(0);
  });

  it("comes back when its fault ends, by the time of the request", async () => {
    aws.faults = ({ target, at }) => (target === "other" && at < 2500 ? { kind: "unanswered" } : undefined);

    expect(await sendToBoth()).toMatchObject([{ name: "sent" }, { name: "sent", seconds: 3 }]);
  });

  it("is as slow as configured, by its name or by its service", async () => {
    aws = new Simulator({ latencyMs: { sqs: 1000, other: [2000, 2500] } });
    healthy = aws.queue("healthy");
    other = aws.queue("other");

    expect(await sendToBoth()).toEqual([
      { name: "sent", seconds: 1 },
      { name: "sent", seconds: 2 },
    ]);
  });

  it.each<readonly [unknown]>([[-1], [0.5], [[2, 1]], [[1, 2, 3]], ["fast"]])(
    "is no faster than whole milliseconds: %j",
    (latency) => {
      expect(() => new Simulator({ latencyMs: { sqs: latency as number } })).toThrow("latencyMs");
    },
  );
});

describe("refused-entries", () => {
  const sendBatch = (...bodies: readonly string[]) =>
    aws.run(async () => {
      const Entries = bodies.map((MessageBody, index) => ({ Id: `id-${index}`, MessageBody }));
      const fn = aws.lambda(() => sqs.sendMessageBatch({ QueueUrl: healthy, Entries }));
      const invocation = await fn.invoke({});
      return Object(invocation.outcome === "returned" && invocation.value);
    });

  it("rejects these entries of a batch, and lets the service accept the others", async () => {
    aws.faults = () => ({ kind: "refused-entries", entries: [0, 2], code: "InternalError" });

    const { Successful, Failed } = await sendBatch("a", "b", "c");

    expect(Successful).toMatchObject([{ Id: "id-1" }]);
    expect(Failed).toMatchObject([
      { Id: "id-0", Code: "InternalError", SenderFault: false },
      { Id: "id-2", Code: "InternalError", SenderFault: false },
    ]);
    const { Messages } = await aws.sqs.call("ReceiveMessage", { QueueUrl: healthy, MaxNumberOfMessages: 10 });
    expect(Messages?.map(({ Body }) => Body)).toEqual(["b"]);
  });

  it("rejects a whole batch, with a response that is still a valid one", async () => {
    aws.faults = () => ({
      kind: "refused-entries",
      entries: [0, 1, 7],
      code: "KmsThrottled",
      senderFault: true,
    });

    const { Successful, Failed } = await sendBatch("a", "b");

    expect([Successful, Failed]).toMatchObject([undefined, [{ SenderFault: true }, { SenderFault: true }]]);
    expect(messagesIn(healthy)).toBe(0);
  });

  it("adds to what the service itself rejects", async () => {
    aws.faults = () => ({ kind: "refused-entries", entries: [0], code: "InternalError" });

    const { Failed } = await sendBatch("a", "\u0000", "c");

    expect(Failed).toMatchObject([{ Code: "InvalidMessageContents" }, { Code: "InternalError" }]);
  });

  it("is for batches only", async () => {
    const io = { service: "sqs", input: {} } as const;

    expect(canHave({ ...io, operation: "SendMessageBatch" }, "refused-entries")).toBe(true);
    expect(canHave({ ...io, operation: "SendMessage" }, "refused-entries")).toBe(false);
  });

  it.each([{ entries: "all" }, { entries: [-1] }, { code: "" }, { senderFault: "no" }])(
    "must be one: %j",
    async (change) => {
      aws.faults = () => ({ kind: "refused-entries", entries: [0], code: "A", ...change }) as never;

      await expect(sendBatch("a")).rejects.toMatchObject({ code: "INVALID_OPTION" });
    },
  );
});
