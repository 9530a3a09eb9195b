// Messages with `deliverAt`: schedules below the SDK's own client, sent by producers.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { OutgoingMessage } from "../../lib/core/messages/outgoing-message.ts";
import { readEnvelope } from "../../lib/messaging/envelope.ts";
import { MessageProducer, type MessageProducerOptions } from "../../lib/messaging/message-producer.ts";
import { Scheduler, scheduleForm } from "../../lib/messaging/scheduler.ts";
import { fakeScheduler, GROUP_ARN, inputOf, ROLE_ARN } from "../kit/fake-scheduler.ts";
import { failureOf, newWorld, type World } from "./given.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TOPIC = "arn:aws:sns:us-east-1:000000000000:orders.fifo";
const LOST_ARN = "arn:aws:sqs:us-east-1:000000000000:undelivered";
const queue = "https://sqs.us-east-1.amazonaws.com/000000000000/reminders";
const at = (ms: number) => new Date(ms);

describe("a producer of messages with `deliverAt`", () => {
  let world: World;
  let scheduler: ReturnType<typeof fakeScheduler>;
  let producer: MessageProducer;
  let deliverAt: Date;

  beforeEach(async () => {
    world = await newWorld();
    scheduler = fakeScheduler(world.clock);
    producer = world.newMessageProducer({ scheduler: scheduler.options });
    deliverAt = at(world.clock.now() + DAY);
  });
  afterEach(() => world.stop());

  const onlyOne = () => {
    expect(scheduler.schedules.size).toBe(1);
    return [...scheduler.schedules.values()][0]!;
  };
  const remind = (more: object = {}) =>
    ({ queue, key: "order-7/remind", body: { order: 7 }, deliverAt, ...more }) as OutgoingMessage;

  it("creates one schedule, in UTC, that sends the message with its envelope and deletes itself", async () => {
    const options = {
      ...scheduler.options,
      deadLetterQueueArn: LOST_ARN,
    };
    producer = world.newMessageProducer({ scheduler: options });
    const offset = deliverAt.toISOString().replace("Z", "+00:00");

    const sent = await producer.send(remind({ deliverAt: offset, attributes: { kind: "paid" } }));

    const { Name, Target, ...schedule } = onlyOne();
    expect(sent).toEqual({ sent: true, messageId: Name, sequenceNumber: "" });
    expect(Name).toMatch(/^[\w-]{1,64}$/);
    expect(schedule).toMatchObject({
      GroupName: "later",
      ScheduleExpression: `at(${deliverAt.toISOString().slice(0, 19)})`,
      ScheduleExpressionTimezone: "UTC",
      FlexibleTimeWindow: { Mode: "OFF" },
      ActionAfterCompletion: "DELETE",
    });
    expect(Target).toMatchObject({
      Arn: "arn:aws:scheduler:::aws-sdk:sqs:sendMessage",
      RoleArn: ROLE_ARN,
      DeadLetterConfig: { Arn: options.deadLetterQueueArn },
    });
    const { MessageAttributes, ...input } = inputOf(onlyOne());
    expect(input).toEqual({ QueueUrl: queue, MessageBody: '{"order":7}' });
    expect(MessageAttributes).toMatchObject({ kind: { StringValue: "paid" } });
    expect(readEnvelope(MessageAttributes)).toMatchObject({ envelope: { key: "order-7/remind" } });
  });

  it("keeps the group and the deduplication id of FIFO, in queues and topics", async () => {
    await producer.send(remind({ queue: `${queue}.fifo`, group: "7" }));
    await producer.send({ topic: TOPIC, key: "k", group: "7", body: "b", deliverAt });

    const [toQueue, toTopic] = [...scheduler.schedules.values()];
    expect(inputOf(toQueue!)).toMatchObject({
      MessageGroupId: "7",
      MessageDeduplicationId: expect.any(String),
    });
    expect(toTopic?.Target?.Arn).toBe("arn:aws:scheduler:::aws-sdk:sns:publish");
    expect(inputOf(toTopic!)).toMatchObject({ TopicArn: TOPIC, Message: "b", MessageGroupId: "7" });
  });

  it.each(["shop", "arn:aws:events:us-east-1:000000000000:event-bus/shop"])(
    "schedules an event for the bus %s, without the time of its commit",
    async (bus) => {
      await producer.send({ bus, source: "orders", detailType: "due", key: "k", body: { a: 1 }, deliverAt });

      expect(onlyOne().Target).toMatchObject({
        Arn: "arn:aws:events:us-east-1:000000000000:event-bus/shop",
        EventBridgeParameters: { Source: "orders", DetailType: "due" },
      });
      expect(inputOf(onlyOne())).toMatchObject({ a: 1, OnceonlyEnvelope: { key: "k" } });
    },
  );

  it("leaves text alone that EventBridge Scheduler would replace", async () => {
    const body = { text: 'a "<aws.scheduler.execution-id>" \\<aws.scheduler.scheduled-time>' };

    await producer.send(remind({ body }));

    expect(onlyOne().Target).not.toHaveProperty("DeadLetterConfig");
    expect(onlyOne().Target?.Input).not.toContain("<aws.scheduler.");
    expect(JSON.parse(`${inputOf(onlyOne()).MessageBody}`)).toEqual(body);
  });

  it("rounds up to the next second, so that nothing comes early", async () => {
    await producer.send(remind({ deliverAt: at(Date.UTC(2999, 0, 1) + 1) }));

    expect(onlyOne().ScheduleExpression).toBe("at(2999-01-01T00:00:01)");
  });

  it("counts a schedule that exists already as sent, and makes another for another body, time or destination", async () => {
    for (const _ of [1, 2]) await producer.send(remind());
    expect(scheduler.requests).toHaveLength(2);
    expect(scheduler.schedules.size).toBe(1);

    await producer.sendBatch([
      remind({ body: { order: 8 } }),
      remind({ key: "other", deliverAt: at(deliverAt.getTime() + HOUR) }),
      remind({ queue: `${queue}-2` }),
    ]);
    expect(scheduler.schedules.size).toBe(4);
  });

  it("sends a message immediately whose time is past or now", async () => {
    const standard = await world.newStandardQueue();
    for (const time of [world.clock.now(), world.clock.now() - DAY]) {
      await producer.send(remind({ queue: standard, key: `at ${time}`, deliverAt: at(time) }));
    }

    expect(scheduler.requests).toEqual([]);
    expect(await world.drain(standard)).toHaveLength(2);
  });

  it.each<[string, number]>([
    ["ThrottlingException", 2],
    ["ServiceQuotaExceededException", 1],
    ["AccessDeniedException", 1],
  ])("reports %s, and tries again in the same call only if it may pass", async (code, tries) => {
    scheduler.faults.push(code, code);
    producer = world.newMessageProducer({ scheduler: scheduler.options, maxTries: 2 });

    expect(await failureOf(producer.send(remind()))).toMatchObject({ failed: [{ id: "0", code }] });
    expect(scheduler.requests).toHaveLength(tries);
  });

  it.each(["InternalServerException", "ECONNRESET"])(
    "fails the whole request after %s, and a second call finds what was created",
    async (fault) => {
      scheduler.faults.push(undefined, fault);
      const both = [remind(), remind({ key: "other" })];

      const { results } = await failureOf(producer.sendBatch(both));
      expect(results.map(({ sent }) => sent)).toEqual([false, false]);

      await producer.sendBatch(both);
      expect(scheduler.schedules.size).toBe(2);
    },
  );

  it("refuses a destination in another Region, and any if it has no scheduler", async () => {
    const far = remind({ queue: queue.replace("us-east-1", "eu-west-1") });
    expect(await failureOf(producer.send(far))).toMatchObject({
      failed: [{ code: "DestinationRefused" }],
      cause: { message: expect.stringContaining("us-east-1 (got eu-west-1)") },
    });
    const without = world.newMessageProducer();
    expect(await failureOf(without.send(remind()))).toMatchObject({
      failed: [{ code: "DestinationRefused" }],
      cause: { message: "a message with `deliverAt` needs the option `scheduler` of its sender" },
    });
    await expect(without.cancel(remind())).rejects.toThrow("needs the option `scheduler`");
    expect(scheduler.requests).toEqual([]);
  });

  it("ends the request that takes a message back when its caller's signal aborts", async () => {
    const { signal } = new AbortController();
    const signals: unknown[] = [];
    const send = async (_: unknown, { abortSignal }: { abortSignal?: AbortSignal } = {}) =>
      void signals.push(abortSignal);
    const options = { ...scheduler.options, client: { config: {}, send } };

    await world.newMessageProducer({ scheduler: options }).cancel(remind(), { signal });

    expect(signals).toEqual([signal]);
  });

  it("names schedules as every release does: a second name would send a message twice", () => {
    const stored = { queue, key: "order-7/remind", body: "{}", deliverAt: "2999-01-01T00:00:00.000Z" };

    expect(scheduleForm(stored, {} as never)).toEqual({
      name: "Nl7_CzgGpZEgB9cFWr_Z4v6GnGkAjHCNOposmonSVc8",
      at: Date.UTC(2999, 0, 1),
      form: {},
    });
  });

  it("takes a message back, says whether it was scheduled, and needs the same message", async () => {
    await producer.send(remind());

    expect(await producer.cancel(remind({ deliverAt: at(deliverAt.getTime() + 1000) }))).toBe(false);
    expect(await producer.cancel(remind())).toBe(true);
    expect(await producer.cancel(remind())).toBe(false);
    expect(scheduler.schedules.size).toBe(0);
    await expect(producer.cancel(remind({ deliverAt: undefined }))).rejects.toThrow("with `deliverAt`");
    scheduler.faults.push("ThrottlingException");
    await expect(producer.cancel(remind())).rejects.toMatchObject({ name: "ThrottlingException" });
  });

  it.each<[string, unknown]>([
    ["scheduler", "later"],
    ["groupArn", { groupArn: "later", roleArn: ROLE_ARN }],
    ["groupArn", { groupArn: ` ${GROUP_ARN}`, roleArn: ROLE_ARN }],
    ["groupArn", { groupArn: `${GROUP_ARN}/remind`, roleArn: ROLE_ARN }],
    ["roleArn", { groupArn: GROUP_ARN }],
    ["roleArn", { groupArn: GROUP_ARN, roleArn: ` ${ROLE_ARN}` }],
    ["roleArn", { groupArn: GROUP_ARN, roleArn: `${ROLE_ARN}\n` }],
    ["deadLetterQueueArn", { groupArn: GROUP_ARN, roleArn: ROLE_ARN, deadLetterQueueArn: ` ${LOST_ARN}` }],
    [
      "deadLetterQueueArn",
      { groupArn: GROUP_ARN, roleArn: ROLE_ARN, deadLetterQueueArn: `${LOST_ARN}.fifo` },
    ],
    ["client", { groupArn: GROUP_ARN, roleArn: ROLE_ARN, client: {} }],
    ["group", { groupArn: GROUP_ARN, roleArn: ROLE_ARN, group: "later" }],
  ])("refuses a wrong %s", (option, given) => {
    const make = () => new MessageProducer({ scheduler: given } as MessageProducerOptions);
    expect(make).toThrow(`\`${option}\``);
  });

  it.each([
    ["aws-cn", "cn-north-1"],
    ["aws-us-gov", "us-gov-west-1"],
  ])("accepts the ARNs of %s", (partition, region) => {
    const arnIn = (arn: string) => arn.replace("arn:aws:", `arn:${partition}:`).replace("us-east-1", region);
    const options = {
      groupArn: arnIn(GROUP_ARN),
      roleArn: arnIn(ROLE_ARN),
      deadLetterQueueArn: arnIn(LOST_ARN),
    };

    expect(new Scheduler(options)).toBeInstanceOf(Scheduler);
  });

  it("makes a client of its own, for the group's Region", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL_SCHEDULER", "http://127.0.0.1:1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
    vi.stubEnv("AWS_MAX_ATTEMPTS", "1");
    const own = new Scheduler({ groupArn: GROUP_ARN, roleArn: ROLE_ARN });

    const removing = own.remove({ ...remind(), body: "b", deliverAt: deliverAt.toISOString() } as never);

    await expect(removing).rejects.toMatchObject({ code: "ECONNREFUSED" });
    vi.unstubAllEnvs();
  });
});
