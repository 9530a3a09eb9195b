import { EventBridge } from "@aws-sdk/client-eventbridge";
import { MessageProducer } from "onceonly/messaging";
import { beforeEach, describe, expect, it } from "vitest";
import type { SimulatedRule } from "../../lib/simulator/room-options.ts";
import { Simulator } from "../../lib/simulator/simulator.ts";
import { inFunction } from "./given.ts";

const eventBridge = new EventBridge({ maxAttempts: 1 });

let aws: Simulator;
let queue: string;

beforeEach(() => {
  aws = new Simulator();
  queue = aws.queue("events");
});

const entry = (detail: object, more: object = {}) => ({
  EventBusName: "shop",
  Source: "shop.orders",
  DetailType: "paid",
  Detail: JSON.stringify(detail),
  ...more,
});

const put = (...Entries: readonly object[]) =>
  inFunction(aws, () => eventBridge.putEvents({ Entries: Entries as never }));

async function bodiesIn(QueueUrl = queue): Promise<string[]> {
  const { Messages = [] } = await aws.sqs.call("ReceiveMessage", { QueueUrl, MaxNumberOfMessages: 10 });
  return Messages.map(({ Body }) => Body);
}

/** What a queue gets of one event through a rule. */
async function through(rule: Omit<SimulatedRule, "queue">, detail: object = { id: 7 }) {
  aws.bus("shop", { rules: [{ queue, ...rule }] });
  await put(entry(detail));
  const [body] = await bodiesIn();
  return body === undefined ? undefined : JSON.parse(body);
}

describe("a bus", () => {
  it("gives a queue the events that its rule matches, with all that EventBridge puts around the detail", async () => {
    aws.bus("shop", { rules: [{ queue, pattern: { "detail-type": ["paid"], detail: { id: [7] } } }] });

    const { Entries, FailedEntryCount } = await put(
      entry({ id: 7 }, { Time: new Date(0), Resources: ["r"] }),
      entry({ id: 8 }),
      entry({ id: 7 }, { DetailType: "sent" }),
    );

    expect([Entries?.length, FailedEntryCount]).toEqual([3, 0]);
    const bodies = (await bodiesIn()).map((body) => JSON.parse(body));
    expect(bodies).toEqual([
      {
        version: "0",
        id: Entries?.[0]?.EventId,
        "detail-type": "paid",
        source: "shop.orders",
        account: "000000000000",
        time: "1970-01-01T00:00:00Z",
        region: "us-east-1",
        resources: ["r"],
        detail: { id: 7 },
      },
    ]);
  });

  it("that doesn't exist accepts events as if it did, and they are gone; queried, it is reported as missing", async () => {
    const { Entries } = await put(entry({ id: 7 }, { EventBusName: "none" }));

    expect(Entries).toMatchObject([{ EventId: expect.any(String) }]);
    await expect(inFunction(aws, () => eventBridge.describeEventBus({ Name: "none" }))).rejects.toMatchObject(
      {
        name: "ResourceNotFoundException",
      },
    );
    await expect(
      inFunction(aws, () =>
        new MessageProducer().send({
          bus: "none",
          source: "shop",
          detailType: "paid",
          key: "k",
          body: {},
        }),
      ),
    ).rejects.toMatchObject({ code: "SEND_FAILED" });
  });

  it("exists under the name default, and gets its rules from the test", async () => {
    aws.bus("default", { rules: [{ queue }] });

    await put(entry({ id: 7 }, { EventBusName: undefined }));

    expect(await bodiesIn()).toHaveLength(1);
    expect(await inFunction(aws, () => eventBridge.describeEventBus({}))).toMatchObject({ Name: "default" });
  });

  it("passes on the part at a path, or a template's result", async () => {
    const detail = { id: 7, name: 'a "b"', lines: [{ sku: "x" }] };
    expect(await through({ inputPath: "$.detail" }, detail)).toEqual(detail);

    beforeAgain();
    const paths = { id: "$.detail.id", name: "$.detail.name", sku: "$.detail.lines[0].sku" };
    const template =
      '{"id": <id>, "name": <name>, "text": "<sku> of <name>", "all": <aws.events.event.json>}';
    expect(await through({ inputTransformer: { paths, template } }, detail)).toMatchObject({
      id: 7,
      name: 'a "b"',
      text: 'x of a "b"',
      all: { detail },
    });

    beforeAgain();
    expect(await through({ inputTransformer: { template: '"<aws.events.rule-name>"' } })).toBe("rule-1");
  });

  function beforeAgain() {
    aws = new Simulator();
    queue = aws.queue("events");
  }

  it("feeds topics, functions and other buses", async () => {
    const seen: unknown[] = [];
    const fn = aws.lambda((event: { detail: unknown }) => void seen.push(event.detail));
    const topic = aws.topic("news", { subscriptions: [{ queue }] });
    const other = aws.bus("other", { rules: [{ fn }] });
    aws.bus("shop", { rules: [{ topic }, { bus: other }] });

    await put(entry({ id: 7 }));

    expect(seen).toEqual([{ id: 7 }]);
    const [body] = await bodiesIn();
    expect(JSON.parse(JSON.parse(body ?? "").Message).detail).toEqual({ id: 7 });
  });

  it("feeds a FIFO queue only with a group, and only if the queue derives deduplication ids from the content", async () => {
    const fifo = aws.queue("fifo.fifo");
    const byContent = aws.queue("content.fifo", { contentBasedDeduplication: true });
    aws.bus("shop", {
      rules: [
        { queue: fifo, group: "g" },
        { queue: byContent, group: "g" },
      ],
    });

    await put(entry({ id: 7 }));

    expect(await bodiesIn(byContent)).toHaveLength(1);
    expect(await bodiesIn(fifo)).toEqual([]);
    expect(aws.traceText()).toMatch(/shop → fifo\.fifo: loses a message: .*ContentBasedDeduplication/);
    aws.bus("groupless", { rules: [{ queue: byContent }] });
    await expect(aws.run(() => undefined)).rejects.toThrow("SqsParameters must be specified");
  });

  it("answers for each entry: missing, malformed, or reserved fields", async () => {
    aws.bus("shop", { rules: [{ queue }] });

    const { Entries, FailedEntryCount } = await put(
      entry({ id: 7 }),
      entry({}, { Source: undefined }),
      entry({}, { Detail: "[]" }),
      entry({}, { Source: "aws.s3" }),
    );

    expect(FailedEntryCount).toBe(3);
    expect(Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual([
      undefined,
      "InvalidArgument",
      "MalformedDetail",
      "NotAuthorizedForSourceException",
    ]);
    expect(await bodiesIn()).toHaveLength(1);
  });

  it("refuses requests that are too many or too large", async () => {
    const large = entry({ text: "x".repeat(600_000) });

    for (const entries of [Array.from({ length: 11 }, () => entry({})), [large, large]]) {
      await expect(put(...entries)).rejects.toMatchObject({ name: "ValidationException" });
    }
  });

  it("rejects single entries according to a fault, in their order", async () => {
    aws.bus("shop", { rules: [{ queue }] });
    aws.faults = () => ({ kind: "refused-entries", entries: [0, 2], code: "ThrottlingException" });

    const { Entries, FailedEntryCount } = await put(entry({ id: 1 }), entry({ id: 2 }), entry({ id: 3 }));

    expect(FailedEntryCount).toBe(2);
    expect(Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual([
      "ThrottlingException",
      undefined,
      "ThrottlingException",
    ]);
    expect((await bodiesIn()).map((body) => JSON.parse(body).detail.id)).toEqual([2]);
  });

  it.each<[object, string]>([
    [{ kind: "throttle" }, "ThrottlingException"],
    [{ kind: "refused", code: "InternalException", status: 500 }, "InternalException"],
    [{ kind: "unsent" }, "TimeoutError"],
  ])("under %j ends as %s", async (fault, name) => {
    aws.faults = () => fault as never;

    await expect(put(entry({}))).rejects.toMatchObject({ name });
  });

  it("delivers some events twice if configured", async () => {
    aws.bus("shop", { rules: [{ queue }], repeats: 0.9 });

    await put(entry({ id: 1 }), entry({ id: 2 }), entry({ id: 3 }));

    expect(aws.sqs.backlog(queue).messages).toBeGreaterThan(3);
  });

  it.each<[object, string]>([
    [{ rules: [{}] }, "queue | fn | topic | bus"],
    [{ rules: [{ queue: "a", topic: "b" }] }, "queue | fn | topic | bus"],
    [{ rules: [{ queue: "a", inputTransformer: {} }] }, "inputTransformer"],
    [{ rule: [] }, "rule"],
  ])("must be one: %j", (bus, option) => {
    expect(() => aws.bus("shop", bus)).toThrow(option);
  });

  it("reports at the next run rules and paths that it does not know", async () => {
    aws.bus("shop", { rules: [{ queue, pattern: { source: [{ sounds: "like shop" }] } }] });
    await expect(aws.run(() => undefined)).rejects.toThrow("sounds");

    aws.bus("other", { rules: [{ queue, inputPath: "$.detail[*]" }] });
    await expect(aws.run(() => undefined)).rejects.toThrow("$.detail[*]");
  });
});
