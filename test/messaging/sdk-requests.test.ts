// The SDK's own clients, over HTTP, against a server that notes requests and gives the answers that AWS documents.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { SNSClient } from "@aws-sdk/client-sns";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../lib/contract.ts";
import { readHeldEnvelope } from "../../lib/messaging/envelope.ts";
import { MessageProducer } from "../../lib/messaging/message-producer.ts";

let answer: string;
let bodies: string[];
let server: ReturnType<typeof createServer>;

beforeEach(async () => {
  bodies = [];
  server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    bodies.push(body);
    response.end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const connection = () => ({
  endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
});

describe("MessageProducer with clients of the SDK", () => {
  it.each([
    [
      "SNS",
      { topic: "arn:aws:sns:us-east-1:000000000000:orders", key: "order-7", body: "paid" },
      "PublishBatch",
    ],
    ["EventBridge", { bus: "orders", source: "shop", detailType: "paid", key: "order-7", body: {} }, "shop"],
  ])("creates one client for %s, from the SDK's configuration", async (_, message, asked) => {
    const { endpoint, region, credentials } = connection();
    vi.stubEnv("AWS_ENDPOINT_URL", endpoint);
    vi.stubEnv("AWS_REGION", region);
    vi.stubEnv("AWS_ACCESS_KEY_ID", credentials.accessKeyId);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", credentials.secretAccessKey);
    answer = '{"Entries":[{"ErrorCode":"MalformedDetail"}]}';

    let connections = 0;
    server.on("connection", () => connections++);
    const producer = new MessageProducer({ maxTries: 1 });

    for (const _ of ["first", "second"]) {
      await expect(producer.send(message)).rejects.toMatchObject({ code: "SEND_FAILED" });
    }

    expect(connections).toBe(1);
    expect(bodies.join()).toContain(asked);
  });

  it("publishes a batch to SNS", async () => {
    answer = `<PublishBatchResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishBatchResult>
      <Failed/><Successful><member><Id>0</Id><MessageId>m1</MessageId><SequenceNumber>7</SequenceNumber></member>
      </Successful></PublishBatchResult></PublishBatchResponse>`;
    const sns = new SNSClient(connection());
    const topic = "arn:aws:sns:us-east-1:000000000000:orders.fifo";

    const sent = await new MessageProducer({ sns }).send({ topic, key: "order-7", group: "7", body: "paid" });
    sns.destroy();

    expect(sent).toEqual({ sent: true, messageId: "m1", sequenceNumber: "7" });
    const entry = "PublishBatchRequestEntries.member.1";
    expect(Object.fromEntries(new URLSearchParams(bodies[0]))).toMatchObject({
      Action: "PublishBatch",
      TopicArn: topic,
      [`${entry}.Id`]: "0",
      [`${entry}.Message`]: "paid",
      [`${entry}.MessageGroupId`]: "7",
      [`${entry}.MessageDeduplicationId`]: expect.stringMatching(/^[\w-]{43}$/),
      [`${entry}.MessageAttributes.entry.1.Name`]: "OnceonlyEnvelope",
      [`${entry}.MessageAttributes.entry.1.Value.DataType`]: "String",
      [`${entry}.MessageAttributes.entry.1.Value.StringValue`]: '{"v":1,"key":"order-7"}',
    });
  });

  it("puts events to EventBridge", async () => {
    answer = JSON.stringify({ FailedEntryCount: 0, Entries: [{ EventId: "e1" }] });
    const eventBridge = new EventBridgeClient(connection());
    const message = { bus: "orders", source: "shop", detailType: "paid", key: "order-7", body: { id: 7 } };

    const sent = await new MessageProducer({ eventBridge }).send(message);
    eventBridge.destroy();

    expect(sent.messageId).toBe("e1");
    expect(bodies.map((body) => JSON.parse(body))).toEqual([
      { Name: "orders" },
      { Entries: [expect.any(Object)] },
    ]);
    const { Entries } = JSON.parse(bodies[1] ?? "");
    expect(Entries).toEqual([
      { EventBusName: "orders", Source: "shop", DetailType: "paid", Detail: expect.any(String) },
    ]);
    expect(readHeldEnvelope(JSON.parse(Entries[0].Detail)[ENVELOPE_ATTRIBUTE])).toMatchObject({
      envelope: { key: "order-7" },
    });
  });
});
