import { createHash } from "node:crypto";
import * as eventBridgeSdk from "@aws-sdk/client-eventbridge";
import * as schedulerSdk from "@aws-sdk/client-scheduler";
import * as snsSdk from "@aws-sdk/client-sns";
import * as sqsSdk from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  CreateScheduleCommand,
  DescribeEventBusCommand,
  EventBridgeClient,
  PublishBatchCommand,
  PutEventsCommand,
  SchedulerClient,
  SendMessageBatchCommand,
  SNSClient,
  SQSClient,
} from "../../lib/lean/senders.ts";
import { startSqs } from "../../packages/local/lib/sqs/start-sqs.ts";
import { timeless } from "../kit/time/timeless.ts";
import { CREDENTIALS, canned, refuse, type Script } from "./world.ts";

const REGION = "eu-central-1";
const NAMESPACE = 'xmlns="http://sns.amazonaws.com/doc/2010-03-31/"';
const QUEUE = "https://sqs.eu-central-1.amazonaws.com/000000000000/payments.fifo";
const TOPIC = "arn:aws:sns:eu-central-1:000000000000:orders.fifo";

beforeEach(() => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", CREDENTIALS.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", CREDENTIALS.secretAccessKey);
  vi.stubEnv("AWS_SESSION_TOKEN", "");
  vi.stubEnv("AWS_REGION", REGION);
});

afterEach(() => {
  vi.unstubAllEnvs();
});

type Sender = SQSClient | SNSClient | EventBridgeClient | SchedulerClient;

function given<Client extends Sender>(
  Class: new (config: object) => Client,
  endpoint: string,
  more: object = {},
): Client {
  const client = new Class({ region: REGION, endpoint, clock: timeless(), ...more });
  onTestFinished(() => client.destroy());
  return client;
}

const attributes = {
  OnceonlyEnvelope: { DataType: "String", StringValue: '{"v":1,"key":"ö & <7> + 1"}' },
  amount: { DataType: "Number", StringValue: "7" },
};
const fifo = { MessageAttributes: attributes, MessageGroupId: "7", MessageDeduplicationId: "d" };
const md5 = (text: string) => createHash("md5").update(text).digest("hex");

const sqsInput = {
  QueueUrl: QUEUE,
  Entries: [
    { Id: "0", MessageBody: "päid", ...fifo },
    { Id: "1", MessageBody: "später", DelaySeconds: 5, MessageAttributes: {} },
  ],
};
const sqsAnswer = JSON.stringify({
  Successful: [{ Id: "0", MessageId: "m0", SequenceNumber: "18", MD5OfMessageBody: md5("päid") }],
  Failed: [{ Id: "1", Code: "KMS.ThrottlingException", SenderFault: true, Message: "slow" }],
});
const snsInput = {
  TopicArn: TOPIC,
  PublishBatchRequestEntries: [
    { Id: "0", Message: "a=b&c d+e*f~'\n€", ...fifo },
    { Id: "1", Message: "second", MessageAttributes: {} },
  ],
};
const snsAnswer = `<PublishBatchResponse ${NAMESPACE}><PublishBatchResult>
  <Failed><member><Id>1</Id><Code>InternalError</Code><Message>&lt;no&gt; &amp;amp;</Message><SenderFault>false</SenderFault></member></Failed>
  <Successful><member><Id>0</Id><MessageId>m0</MessageId><SequenceNumber>18</SequenceNumber></member></Successful>
  </PublishBatchResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></PublishBatchResponse>`;
const events = {
  Entries: [
    {
      EventBusName: "shop",
      Source: "s",
      DetailType: "t",
      Detail: '{"a":1}',
      Time: new Date(1_700_000_000_500),
    },
    { EventBusName: "shop", Source: "s", DetailType: "t", Detail: "{}" },
  ],
};
const schedule = {
  Name: "aZ-_0",
  GroupName: "later",
  ClientToken: "otherwise-the-sdk-makes-one",
  ScheduleExpression: "at(2030-01-01T00:00:00)",
  ScheduleExpressionTimezone: "UTC",
  FlexibleTimeWindow: { Mode: "OFF" },
  ActionAfterCompletion: "DELETE",
  Target: { Arn: "arn:aws:scheduler:::aws-sdk:sqs:sendMessage", RoleArn: "arn:r", Input: '{"a":"ö"}' },
} as const;
const eventsAnswer = JSON.stringify({
  FailedEntryCount: 1,
  Entries: [{ EventId: "e0" }, { ErrorCode: "ThrottlingException", ErrorMessage: "slow" }],
});

interface AnyClient {
  send(command: never): Promise<object>;
  destroy(): void;
}

describe("a sender", () => {
  it.each<
    [string, new (config: object) => Sender, unknown, new (config: object) => AnyClient, unknown, string]
  >([
    [
      "SQS's",
      SQSClient,
      new SendMessageBatchCommand(sqsInput),
      sqsSdk.SQSClient as never,
      new sqsSdk.SendMessageBatchCommand(sqsInput),
      sqsAnswer,
    ],
    [
      "SNS's",
      SNSClient,
      new PublishBatchCommand(snsInput),
      snsSdk.SNSClient as never,
      new snsSdk.PublishBatchCommand(snsInput),
      snsAnswer,
    ],
    [
      "EventBridge's",
      EventBridgeClient,
      new PutEventsCommand(events),
      eventBridgeSdk.EventBridgeClient as never,
      new eventBridgeSdk.PutEventsCommand(events),
      eventsAnswer,
    ],
    [
      "EventBridge's for a bus",
      EventBridgeClient,
      new DescribeEventBusCommand({ Name: "shop" }),
      eventBridgeSdk.EventBridgeClient as never,
      new eventBridgeSdk.DescribeEventBusCommand({ Name: "shop" }),
      JSON.stringify({ Name: "shop", Arn: "arn" }),
    ],
    [
      "EventBridge Scheduler's",
      SchedulerClient,
      new CreateScheduleCommand(schedule),
      schedulerSdk.SchedulerClient as never,
      new schedulerSdk.CreateScheduleCommand(schedule),
      JSON.stringify({ ScheduleArn: "arn" }),
    ],
  ])(
    "asks as %s client of the SDK does, and reads the same answer",
    async (_, Class, ours, SdkClient, theirs, answer) => {
      const { url, asked } = await canned((response) => response.end(answer));
      const sdk = new SdkClient({
        region: REGION,
        endpoint: url,
        credentials: CREDENTIALS,
        useQueueUrlAsEndpoint: false,
      });
      onTestFinished(() => sdk.destroy());

      const { $metadata: _metadata, ...expected } = (await sdk.send(theirs as never)) as Record<
        string,
        unknown
      >;
      const got = await given(Class, url).send(ours as never);

      expect(got).toMatchObject(expected);
      const [before, after] = asked.map(({ headers, body, url: path }) => ({
        path,
        type: headers["content-type"],
        target: headers["x-amz-target"],
        body: body.startsWith("{") ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body)),
      }));
      expect(after).toEqual(before);
      const service = /Credential=AKIDEXAMPLE\/\d+\/eu-central-1\/(\w+)\/aws4_request/;
      const [signedBefore, signedAfter] = asked.map(
        ({ headers }) => service.exec(`${headers.authorization}`)?.[1],
      );
      expect(signedAfter).toBe(signedBefore);
    },
  );

  it("reaches a queue of an engine, and reports one that doesn't exist", async () => {
    const engine = await startSqs();
    onTestFinished(() => engine.stop());
    const Attributes = { FifoQueue: "true" };
    const { QueueUrl } = await engine.model.call("CreateQueue", { QueueName: "to.fifo", Attributes });
    const client = given(SQSClient, engine.endpoint);
    const [entry] = sqsInput.Entries;

    const sent = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries: [entry] }));
    const other = client.send(new SendMessageBatchCommand({ ...sqsInput, QueueUrl: `${QueueUrl}.fifo` }));

    expect(sent).toMatchObject({ Successful: [{ Id: "0", MessageId: expect.any(String) }] });
    await expect(other).rejects.toMatchObject({ name: "QueueDoesNotExist", $fault: "client" });
    const { Messages } = await engine.model.call("ReceiveMessage", {
      QueueUrl: `${QueueUrl}`,
      MessageAttributeNames: ["All"],
    });
    expect(Messages).toEqual([expect.objectContaining({ Body: "päid", MessageAttributes: attributes })]);
  });

  it("fails if SQS has got another body than was sent", async () => {
    const Successful = [{ Id: "0", MessageId: "m0", MD5OfMessageBody: md5("another") }];
    const { url } = await canned((response) => response.end(JSON.stringify({ Successful })));

    const sending = given(SQSClient, url).send(new SendMessageBatchCommand(sqsInput));

    await expect(sending).rejects.toThrow("its digest differs");
  });

  const publish = new PublishBatchCommand(snsInput);
  const refuseXml =
    (code: string, statusCode: number): Script =>
    (response) => {
      const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>no &quot;way&quot; &amp;amp;</Message></Error>`;
      response
        .writeHead(statusCode, { "x-amzn-requestid": "r-1" })
        .end(`<ErrorResponse ${NAMESPACE}>${error}<RequestId>r-1</RequestId></ErrorResponse>`);
    };

  it.each(["NotFound", "AuthorizationError", "InvalidParameter"])(
    "reports %s of SNS, and asks once",
    async (code) => {
      const { url, asked } = await canned(refuseXml(code, 404));

      await expect(given(SNSClient, url).send(publish)).rejects.toMatchObject({
        name: code,
        message: 'no "way" &amp;',
        $metadata: { httpStatusCode: 404, requestId: "r-1", attempts: 1 },
      });
      expect(asked).toHaveLength(1);
    },
  );

  it.each(["ResourceNotFoundException", "AccessDeniedException"])(
    "reports %s of EventBridge",
    async (name) => {
      const { url, asked } = await canned((response) => refuse(response, name));

      const asking = given(EventBridgeClient, url).send(new DescribeEventBusCommand({ Name: "shop" }));

      await expect(asking).rejects.toMatchObject({ name });
      expect(asked).toHaveLength(1);
    },
  );

  it.each<[string, Script]>([
    ["throttling by SNS", refuseXml("Throttling", 400)],
    ["throttling by status", refuseXml("Throttled", 429)],
    ["an error of the service", refuseXml("InternalError", 500)],
    ["a page of a gateway", (response) => response.writeHead(503).end("<html>busy</html>")],
    ["a page of a proxy", (response) => response.end("<html>who are you?</html>")],
    ["a part of an answer", (response) => response.end(snsAnswer.slice(0, -40))],
    ["no content", (response) => response.writeHead(204).end()],
    ["a connection that breaks", (response) => response.destroy()],
  ])("tries again after %s, three times in all", async (_, script) => {
    const { url, asked } = await canned(script);

    const sending = given(SNSClient, url).send(publish);

    await expect(sending).rejects.toMatchObject({ $metadata: { attempts: 3 } });
    await expect(sending).rejects.not.toThrow(/who are you/);
    expect(asked).toHaveLength(3);
  });

  it("reports a schedule that exists already, and asks once", async () => {
    const { url, asked } = await canned((response) =>
      response
        .writeHead(409, { "x-amzn-errortype": "ConflictException:http://internal.amazon.com/" })
        .end('{"Message":"Schedule aZ-_0 already exists."}'),
    );

    const sending = given(SchedulerClient, url).send(new CreateScheduleCommand(schedule));

    await expect(sending).rejects.toMatchObject({ name: "ConflictException", $fault: "client" });
    expect(asked).toHaveLength(1);
  });

  it("tries SQS again that throttles, and succeeds", async () => {
    const { url, asked } = await canned((response, { number }) =>
      number < 3 ? refuse(response, "RequestThrottled") : response.end(sqsAnswer),
    );

    const sent = await given(SQSClient, url).send(new SendMessageBatchCommand(sqsInput));

    expect(sent).toMatchObject({ Successful: [{ Id: "0" }], Failed: [{ Id: "1", SenderFault: true }] });
    expect(asked.map(({ headers }) => headers["amz-sdk-request"])).toEqual(
      [1, 2, 3].map((n) => `attempt=${n}; max=3`),
    );
  });

  it("reads credentials from the container's endpoint, and new ones once they are rejected", async () => {
    const names = ["OLD", "NEW"];
    const agent = await canned((response) =>
      response.end(
        JSON.stringify({
          AccessKeyId: names.shift(),
          SecretAccessKey: "secret",
          Token: "token",
          Expiration: "2099-01-01T00:00:00Z",
        }),
      ),
    );
    vi.stubEnv("AWS_ACCESS_KEY_ID", "");
    vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", agent.url);
    const { url, asked } = await canned((response, each) =>
      each.number === 1 ? refuseXml("ExpiredToken", 403)(response, each) : response.end(snsAnswer),
    );

    await given(SNSClient, url).send(publish);

    const used = asked.map(({ headers }) => /Credential=(\w+)\//.exec(`${headers.authorization}`)?.[1]);
    expect(used).toEqual(["OLD", "NEW"]);
    expect(asked[1]!.headers["x-amz-security-token"]).toBe("token");
  });

  it("gives up a request that is under way, and tries no more, once its signal aborts", async () => {
    const abort = new AbortController();
    const { url, asked } = await canned(() => abort.abort());

    const sending = given(SNSClient, url).send(publish, { abortSignal: abort.signal });

    await expect(sending).rejects.toMatchObject({ name: "AbortError" });
    expect(asked).toHaveLength(1);
  });

  it("stops trying if its signal aborts between two tries", async () => {
    const abort = new AbortController();
    const { url, asked } = await canned((response, each) => {
      refuseXml("Throttling", 400)(response, each);
      response.once("close", () => setImmediate(() => abort.abort()));
    });

    const sending = given(SNSClient, url).send(publish, { abortSignal: abort.signal });

    await expect(sending).rejects.toMatchObject({ name: expect.stringMatching(/^(Throttling|AbortError)$/) });
    expect(asked).toHaveLength(1);
  });

  it("returns the endpoint that the environment names, and refuses to send without a Region", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL", "http://localhost:4566");
    vi.stubEnv("AWS_ENDPOINT_URL_SQS", "http://localhost:9324");
    vi.stubEnv("AWS_REGION", "");

    expect(await new SQSClient().config.serviceConfiguredEndpoint()).toBe("http://localhost:9324");
    expect(await new SNSClient().config.serviceConfiguredEndpoint()).toBe("http://localhost:4566");
    await expect(new SNSClient().send(publish)).rejects.toMatchObject({ name: "RegionMissingError" });
  });
});
