import { request } from "node:http";
import { ListQueuesCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeClock, fakeClock } from "../../../../lib/testing/fake-clock.ts";
import { untilSleeping } from "../../../../test/kit/time/until-sleeping.ts";
import { sqsCases } from "../../../explorer/test/aws/sqs/cases/all.ts";
import { newFifo, newQueue, receive, send } from "../../../explorer/test/aws/sqs/cases/case.ts";
import { sdkSubject, sqsClient } from "../../../explorer/test/aws/sqs/cases/sdk-subject.ts";
import type { SqsSubject } from "../../../explorer/test/aws/sqs/cases/subject.ts";
import { type SqsEngine, startSqs } from "../../lib/sqs/start-sqs.ts";

async function post(endpoint: string, headers: Record<string, string>, body: string) {
  const response = await fetch(endpoint, { method: "POST", headers, body });
  return { response, answer: await response.json() };
}

describe("startSqs", () => {
  let clock: FakeClock;
  let sqs: SqsEngine;
  let subject: SqsSubject;

  beforeEach(async () => {
    clock = fakeClock();
    sqs = await startSqs({ clock });
    subject = sdkSubject({ endpoint: sqs.endpoint, clock, stop: () => sqs.stop() });
  });

  afterEach(() => subject.stop());

  for (const [topic, cases] of Object.entries(sqsCases)) {
    describe(`${topic}, by AWS's SDK`, () => {
      for (const { title, run } of cases) it(title, () => run(subject));
    });
  }

  it("gives queues URLs that the SDK follows without a configured endpoint", async () => {
    const QueueUrl = await newQueue(subject);
    const client = new SQSClient({
      region: "us-east-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
    });

    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: "by its URL" }));
    client.destroy();

    expect(QueueUrl.startsWith(`${sqs.endpoint}/`)).toBe(true);
    expect(await receive(subject, QueueUrl)).toMatchObject([{ Body: "by its URL" }]);
  });

  it("shares its queues with the model", async () => {
    const QueueUrl = await newQueue(subject);

    await sqs.model.call("SendMessage", { QueueUrl, MessageBody: "in process" });

    expect(await receive(subject, QueueUrl)).toMatchObject([{ Body: "in process" }]);
  });

  it("answers errors in AWS's JSON protocol, with the code of the query protocol", async () => {
    const post1 = await post(
      sqs.endpoint,
      { "x-amz-target": "AmazonSQS.GetQueueUrl" },
      JSON.stringify({ QueueName: "nowhere" }),
    );

    expect(post1.response.status).toBe(400);
    expect(post1.response.headers.get("content-type")).toBe("application/x-amz-json-1.0");
    expect(post1.response.headers.get("x-amzn-requestid")).toMatch(/^[0-9a-f-]{36}$/);
    expect(post1.response.headers.get("x-amzn-query-error")).toBe(
      "AWS.SimpleQueueService.NonExistentQueue;Sender",
    );
    expect(post1.answer).toEqual({
      __type: "com.amazonaws.sqs#QueueDoesNotExist",
      message: "The specified queue does not exist.",
    });
  });

  it("keeps the shape name of an error that SQS's model does not have", async () => {
    const QueueUrl = await newFifo(subject);

    const { response, answer } = await post(
      sqs.endpoint,
      { "x-amz-target": "AmazonSQS.SendMessage" },
      JSON.stringify({ QueueUrl, MessageBody: "a" }),
    );

    expect(response.headers.get("x-amzn-query-error")).toBe("MissingParameter;Sender");
    expect(answer).toMatchObject({ __type: "com.amazon.coral.service#MissingRequiredParameterException" });
  });

  it.each([
    ["no target", {}, "{}", "UnknownOperationException"],
    [
      "an operation it does not have",
      { "x-amz-target": "AmazonSQS.AddPermission" },
      "{}",
      "UnknownOperation",
    ],
    ["an operation of another service", { "x-amz-target": "AmazonSNS.Publish" }, "{}", "UnknownOperation"],
    ["no JSON", { "x-amz-target": "AmazonSQS.ListQueues" }, "<xml>", "InvalidParameterValueException"],
    ["no object", { "x-amz-target": "AmazonSQS.ListQueues" }, "[]", "InvalidParameterValueException"],
  ] as [string, Record<string, string>, string, string][])(
    "refuses a request with %s",
    async (_, headers, body, type) => {
      const { response, answer } = await post(sqs.endpoint, headers, body);

      expect(response.status).toBe(400);
      expect(answer).toMatchObject({ __type: expect.stringContaining(type) });
    },
  );

  it("receives nothing for a receiver that hung up", async () => {
    const QueueUrl = await newQueue(subject);
    const poll = request(sqs.endpoint, {
      method: "POST",
      headers: { "x-amz-target": "AmazonSQS.ReceiveMessage" },
    });
    poll.on("error", () => undefined);
    poll.end(JSON.stringify({ QueueUrl, WaitTimeSeconds: 20 }));
    await untilSleeping(clock);

    poll.destroy();
    while (clock.sleepers > 0) await new Promise((resolve) => setImmediate(resolve));
    await send(subject, QueueUrl, "a");

    expect(await receive(subject, QueueUrl)).toHaveLength(1);
  });

  it("stops while a receiver waits", async () => {
    const QueueUrl = await newQueue(subject);
    const client = sqsClient(sqs.endpoint);
    const waiting = client
      .send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }))
      .catch((error: unknown) => error);
    await untilSleeping(clock);

    await sqs.stop();

    await waiting;
    await expect(client.send(new ListQueuesCommand({}))).rejects.toThrow(/ECONNREFUSED/);
    client.destroy();
  });
});
