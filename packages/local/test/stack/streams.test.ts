// Functions that are fed from the stream of a table, on every engine that can be run here.
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, inject, it } from "vitest";
import { inlineFunction, type StackUnderTest, startTemplate, until } from "./world.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const ids = "event.Records.map((each) => each.dynamodb.Keys.pk.S)";
const relay = (rest = "") => inlineFunction(`print({ ids: ${ids} }); ${rest}`);

/** Fails as long as "bad" is in the batch, and says which record it was where it is asked to. */
const THROWS_AT_BAD = `if (${ids}.includes("bad")) throw new Error("bad");`;
const NAMES_BAD =
  'return { batchItemFailures: event.Records.filter((each) => each.dynamodb.Keys.pk.S === "bad")' +
  ".map((each) => ({ itemIdentifier: each.dynamodb.SequenceNumber })) };";

const batchesOf = (stack: StackUnderTest) =>
  stack.printed<{ ids?: string[] }>().flatMap((printed) => (printed.ids ? [printed.ids.join(" ")] : []));

describe.each(inject("dynamodbEngines"))(
  "AWS::Lambda::EventSourceMapping of a stream on $name",
  ({ endpoint }) => {
    const client = new DynamoDBClient({
      endpoint,
      region: "us-east-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
    });

    async function start(mapping: object, consume: object = relay()) {
      const stack = await startTemplate(
        {
          Orders: {
            Type: "AWS::DynamoDB::Table",
            Properties: {
              KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
              AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
              StreamSpecification: { StreamViewType: "NEW_AND_OLD_IMAGES" },
            },
          },
          Failed: { Type: "AWS::SQS::Queue" },
          Relay: consume,
          Mapping: {
            Type: "AWS::Lambda::EventSourceMapping",
            Properties: {
              EventSourceArn: { "Fn::GetAtt": ["Orders", "StreamArn"] },
              FunctionName: { "Fn::GetAtt": ["Relay", "Arn"] },
              StartingPosition: "TRIM_HORIZON",
              Enabled: false,
              ...mapping,
            },
          },
        },
        cleanups,
        { dynamodbEndpoint: endpoint },
      );
      const TableName = stack.tables.Orders?.name ?? "";
      async function put(pk: string, color = "red"): Promise<void> {
        await client.send(new PutItemCommand({ TableName, Item: { pk: { S: pk }, color: { S: color } } }));
      }
      return { stack, put, source: stack.eventSources.Mapping! };
    }

    it("delivers written records, in order, as Lambda does", async () => {
      const { stack, put, source } = await start({}, inlineFunction("print({ ids: [], event })"));
      await put("a");
      await put("a", "blue");
      source.enable();

      const [event] = await until(() => {
        const events = stack.printed<{ event: { Records: object[] } }>().map((printed) => printed.event);
        return events.flatMap(({ Records }) => Records).length === 2 && events;
      });

      const { logicalId } = source;
      expect(logicalId).toBe("Mapping");
      expect(event?.Records[0]).toMatchObject({
        eventID: expect.any(String),
        eventName: "INSERT",
        eventVersion: "1.1",
        eventSource: "aws:dynamodb",
        awsRegion: "us-east-1",
        eventSourceARN: expect.stringMatching(
          /^arn:aws:dynamodb:us-east-1:000000000000:table\/App-Orders-.*\/stream\//,
        ),
        dynamodb: {
          ApproximateCreationDateTime: expect.any(Number),
          Keys: { pk: { S: "a" } },
          NewImage: { pk: { S: "a" }, color: { S: "red" } },
          SequenceNumber: expect.any(String),
          StreamViewType: "NEW_AND_OLD_IMAGES",
        },
      });
      expect(event?.Records[1]).toMatchObject({
        eventName: "MODIFY",
        dynamodb: { OldImage: { color: { S: "red" } }, NewImage: { color: { S: "blue" } } },
      });
    });

    it("continues where it was when it is disabled and enabled again", async () => {
      const { stack, put, source } = await start({ Enabled: true });
      await put("a");
      await until(() => stack.lines.some((line) => line.includes("batch of 1 ok")));
      source.disable();
      await put("b");
      await put("c");
      source.enable();

      await until(() => batchesOf(stack).join(" ").endsWith("c"));

      expect(batchesOf(stack).join(" ")).toBe("a b c");
    });

    it("loses nothing of a batch that was failing when it was disabled", async () => {
      const { stack, put, source } = await start({ BatchSize: 1 }, relay(THROWS_AT_BAD));
      await put("bad");
      await put("b");
      source.enable();
      await until(() => batchesOf(stack).length === 1);
      source.disable();
      source.enable();

      await until(() => batchesOf(stack).length === 3);

      expect(batchesOf(stack)).toEqual(["bad", "bad", "bad"]);
    });

    it("leaves out records that its filters keep out", async () => {
      const Pattern = JSON.stringify({
        eventName: ["INSERT"],
        dynamodb: { NewImage: { color: { S: ["red"] } } },
      });
      const { stack, put, source } = await start({ FilterCriteria: { Filters: [{ Pattern }] } });
      await put("a", "blue");
      await put("b");
      await put("b", "red and more");
      await put("c");
      source.enable();

      await until(() => batchesOf(stack).join(" ").endsWith("c"));

      expect(batchesOf(stack)).toEqual(["b c"]);
    });

    it("delivers no more than the batch size at a time", async () => {
      const { stack, put, source } = await start({ BatchSize: 2 });
      for (const pk of ["a", "b", "c"]) await put(pk);
      source.enable();

      await until(() => batchesOf(stack).length === 2);

      expect(batchesOf(stack)).toEqual(["a b", "c"]);
    });

    it("tries a failing batch again, skips it in the end, and reports its position", async () => {
      const OnFailure = { Destination: { "Fn::GetAtt": ["Failed", "Arn"] } };
      const { stack, put, source } = await start(
        { MaximumRetryAttempts: 1, DestinationConfig: { OnFailure } },
        relay(THROWS_AT_BAD),
      );
      await put("bad");
      await put("b");
      source.enable();
      await until(() => stack.lines.some((line) => line.includes("gave up")));
      await put("c");
      await until(() => batchesOf(stack).includes("c"));
      const QueueUrl = stack.queues.Failed?.url ?? "";
      const received = await fetch(stack.endpoints.sqs, {
        method: "POST",
        headers: { "x-amz-target": "AmazonSQS.ReceiveMessage" },
        body: JSON.stringify({ QueueUrl }),
      });
      const { Messages } = (await received.json()) as { Messages: { Body: string }[] };

      expect(batchesOf(stack)).toEqual(["bad b", "bad b", "c"]);
      expect(JSON.parse(String(Messages[0]?.Body))).toMatchObject({
        requestContext: {
          condition: "RetryAttemptsExhausted",
          approximateInvokeCount: 2,
          functionArn: stack.functions.Relay?.arn,
        },
        DDBStreamBatchInfo: { batchSize: 2, streamArn: stack.tables.Orders?.streamArn },
      });
    });

    it("splits a failing batch until only the bad record is given up", async () => {
      const { stack, put, source } = await start(
        { MaximumRetryAttempts: 0, BisectBatchOnFunctionError: true },
        relay(THROWS_AT_BAD),
      );
      for (const pk of ["a", "b", "bad", "c"]) await put(pk);
      source.enable();

      await until(() => batchesOf(stack).at(-1) === "c");

      expect(batchesOf(stack)).toEqual(["a b bad c", "a b", "bad c", "bad", "c"]);
    });

    it("goes on at the record that the function names", async () => {
      const { stack, put, source } = await start(
        { MaximumRetryAttempts: 1, FunctionResponseTypes: ["ReportBatchItemFailures"] },
        relay(NAMES_BAD),
      );
      for (const pk of ["a", "bad", "c"]) await put(pk);
      source.enable();

      await until(() => stack.lines.some((line) => line.includes("gave up on 2 records")));

      expect(batchesOf(stack)).toEqual(["a bad c", "bad c"]);
    });

    it("splits if the function names a record, without counting that as a retry", async () => {
      const { stack, put, source } = await start(
        {
          MaximumRetryAttempts: 0,
          BisectBatchOnFunctionError: true,
          FunctionResponseTypes: ["ReportBatchItemFailures"],
        },
        relay(NAMES_BAD),
      );
      for (const pk of ["a", "bad", "c", "d"]) await put(pk);
      source.enable();

      await until(() => batchesOf(stack).at(-1) === "d");

      expect(batchesOf(stack)).toEqual(["a bad c d", "bad c d", "bad c", "bad", "c", "d"]);
    });

    it("holds up the shard after a batch that keeps failing, as it does on AWS", async () => {
      const { stack, put, source } = await start({ BatchSize: 1 }, relay(THROWS_AT_BAD));
      await put("bad");
      await put("b");
      source.enable();

      await until(() => batchesOf(stack).length >= 3);
      await stack.stop();

      expect(new Set(batchesOf(stack))).toEqual(new Set(["bad"]));
      expect(stack.lines.filter((line) => line.includes("gave up") || line.includes("retrying"))).toEqual([]);
    });

    it("names a tumbling window and a destination that it does not run", async () => {
      const OnFailure = { Destination: "arn:aws:sns:us-east-1:000000000000:news" };
      const { stack } = await start({ TumblingWindowInSeconds: 30 });
      const { stack: other } = await start({ DestinationConfig: { OnFailure } });

      expect(stack.notRun).toEqual([
        expect.stringContaining("Mapping (Mapping): tumbling windows aren't supported locally"),
      ]);
      expect(other.notRun).toEqual([expect.stringContaining("which isn't a queue of this run")]);
    });
  },
);
