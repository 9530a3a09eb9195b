// The windows of Kinesis, table streams, Kafka and EventBridge Pipes, and of queues behind dead-letter queues.
import { CfnParameter, Duration, Fn } from "aws-cdk-lib";
import { AttributeType, StreamViewType, Table, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { CfnStream, CfnStreamConsumer, Stream } from "aws-cdk-lib/aws-kinesis";
import { CfnEventSourceMapping, StartingPosition } from "aws-cdk-lib/aws-lambda";
import {
  DynamoEventSource,
  KinesisEventSource,
  type KinesisEventSourceProps,
  ManagedKafkaEventSource,
  SqsDlq,
  SqsEventSource,
} from "aws-cdk-lib/aws-lambda-event-sources";
import { CfnPipe } from "aws-cdk-lib/aws-pipes";
import { type CfnQueue, Queue } from "aws-cdk-lib/aws-sqs";
import { describe, expect, it } from "vitest";
import { type Build, synthesized } from "./given.ts";

const DAY = 86_400;
const seconds = (count: number) => Duration.seconds(count);
const silence = { faults: "", warnings: [], notes: [] };
const startingPosition = StartingPosition.LATEST;
const roleArn = "arn:aws:iam::111111111111:role/any";

describe("a Kinesis stream that feeds a function", () => {
  const build =
    (retentionPeriod: Duration, more: Partial<KinesisEventSourceProps> = {}): Build =>
    (stack, fn) => {
      const stream = new Stream(stack, "Stream", { retentionPeriod });
      fn.addEventSource(new KinesisEventSource(stream, { startingPosition, ...more }));
    };

  it("is covered by a retention as long as the stream's", () => {
    expect(synthesized(seconds(7 * DAY + 120), build(Duration.days(7)))).toEqual(silence);
  });

  it("is refused with a shorter one, with the inequality", () => {
    expect(synthesized(seconds(7 * DAY + 119), build(Duration.days(7))).faults).toContain(
      "retention 604919 s < 604920 s, the longest redelivery to Test/Fn (604800 s in the stream Test/Stream + client window 120 s)",
    );
  });

  it("warns where it keeps records for a year, as long as Kinesis can", () => {
    const { faults, warnings } = synthesized(Duration.days(30), build(Duration.days(365)));

    expect(faults).toBe("");
    expect(warnings[0]).toMatch(
      /2592000 s < 31536120 s.*A retention of Duration.days\(366\) covers it.*onceonly:stream-window/,
    );
    expect(synthesized(Duration.days(366), build(Duration.days(365)))).toEqual(silence);
  });

  it("brings nothing after its maximum record age, unless that goes to a destination", () => {
    const maxRecordAge = Duration.hours(2);

    expect(synthesized(seconds(7320), build(Duration.days(7), { maxRecordAge }))).toEqual(silence);
    expect(synthesized(seconds(7319), build(Duration.days(7), { maxRecordAge })).faults).toContain(
      "7319 s < 7320 s, the longest redelivery to Test/Fn (7200 s as the maximum record age of Test/Fn/",
    );
    const parked: Build = (stack, fn) =>
      build(Duration.days(7), { maxRecordAge, onFailure: new SqsDlq(new Queue(stack, "Parked")) })(stack, fn);
    expect(synthesized(seconds(7320), parked).faults).toContain("604800 s in the stream Test/Stream");
  });

  it("is bounded in time by no number of retries", () => {
    expect(synthesized(Duration.days(1), build(Duration.days(7), { retryAttempts: 2 })).faults).toContain(
      "604800 s in the stream",
    );
  });

  it("is seen behind a consumer, and keeps records for a day where it says nothing", () => {
    const { warnings } = synthesized(Duration.days(1), (stack, fn) => {
      const streamArn = new CfnStream(stack, "Stream", { shardCount: 1 }).attrArn;
      const consumer = new CfnStreamConsumer(stack, "Consumer", { consumerName: "c", streamArn });
      const eventSourceArn = consumer.attrConsumerArn;
      const { functionName } = fn;
      const mapping = { functionName, eventSourceArn, startingPosition: "LATEST" };
      new CfnEventSourceMapping(stack, "Mapping", mapping);
    });

    expect(warnings[0]).toContain(
      "86400 s < 86520 s, the longest redelivery to Test/Fn (86400 s in the stream Test/Stream",
    );
  });

  it("notes a number that is only known at deployment, and a stream of another app", () => {
    const late: Build = (stack, fn) => {
      const hours = new CfnParameter(stack, "Hours", { type: "Number" }).valueAsNumber;
      build(Duration.hours(hours))(stack, fn);
    };
    const foreign: Build = (stack, fn) => {
      const stream = Stream.fromStreamArn(stack, "Stream", Fn.importValue("StreamArn"));
      fn.addEventSource(new KinesisEventSource(stream, { startingPosition }));
    };

    expect(synthesized(Duration.days(1), late).notes.join()).toContain(
      "a number of Test/Stream is only known",
    );
    expect(synthesized(Duration.days(1), foreign).notes.join()).toContain(
      "this app doesn't say how long the source of Test/Fn/KinesisEventSource:TestStream",
    );
  });
});

describe("the stream of a table that feeds a function", () => {
  const partitionKey = { name: "id", type: AttributeType.STRING };
  const build =
    (more = {}): Build =>
    (stack, fn) => {
      const table = new TableV2(stack, "Orders", { partitionKey, dynamoStream: StreamViewType.NEW_IMAGE });
      fn.addEventSource(new DynamoEventSource(table, { startingPosition, ...more }));
    };

  it("is covered by a retention of its 24 hours", () => {
    expect(synthesized(seconds(DAY + 120), build())).toEqual(silence);
  });

  it("warns with the inequality, since AWS sets the hours", () => {
    const { faults, warnings } = synthesized(Duration.days(1), build());

    expect(faults).toBe("");
    expect(warnings[0]).toMatch(
      /^retention 86400 s < 86520 s, the longest redelivery to Test\/Fn \(86400 s in the stream of Test\/Orders \+ client window 120 s\).*onceonly:stream-window/,
    );
  });

  it("is refused where its maximum record age is longer than the retention", () => {
    const given = { maxRecordAge: Duration.hours(5) };

    expect(synthesized(Duration.hours(5), build(given)).faults).toContain("18000 s < 18120 s");
    expect(synthesized(seconds(18_120), build(given))).toEqual(silence);
  });

  it("is seen of an older Table, and of one that is imported by its ARN", () => {
    const older: Build = (stack, fn) => {
      const table = new Table(stack, "Older", { partitionKey, stream: StreamViewType.NEW_IMAGE });
      fn.addEventSource(new DynamoEventSource(table, { startingPosition }));
    };
    const imported: Build = (stack, fn) => {
      const tableStreamArn = "arn:aws:dynamodb:eu-west-1:111111111111:table/t/stream/2026-01-01T00:00:00.000";
      const table = Table.fromTableAttributes(stack, "T", { tableName: "t", tableStreamArn });
      fn.addEventSource(new DynamoEventSource(table, { startingPosition }));
    };

    expect(synthesized(Duration.days(1), older).warnings[0]).toContain("in the stream of Test/Older");
    expect(synthesized(Duration.days(1), imported).warnings[0]).toContain("in the stream of a table");
  });
});

describe("a Kafka topic or a broker that feeds a function", () => {
  it("is noted, because its retention isn't known at synthesis", () => {
    const clusterArn = "arn:aws:kafka:eu-central-1:123456789012:cluster/orders/1";
    const { faults, notes } = synthesized(Duration.days(1), (_, fn) => {
      fn.addEventSource(new ManagedKafkaEventSource({ clusterArn, topic: "orders", startingPosition }));
    });

    expect(faults).toBe("");
    expect(notes.join()).toContain("this app doesn't say how long");
  });

  it("F8: is noted in queue mode too, which has no starting position", () => {
    const { notes } = synthesized(Duration.days(1), (stack, { functionName }) => {
      new CfnEventSourceMapping(stack, "Mapping", {
        functionName,
        topics: ["orders"],
        selfManagedEventSource: { endpoints: { kafkaBootstrapServers: ["b-1:9092"] } },
        selfManagedKafkaEventSourceConfig: { consumptionMode: "Queue" },
      });
    });

    expect(notes.join()).toContain("this app doesn't say how long the source of Test/Mapping keeps records");
  });

  it("is refused by its maximum record age, which is known", () => {
    const build: Build = (stack, { functionName }) => {
      const eventSourceArn = "arn:aws:kafka:eu-central-1:123456789012:cluster/orders/1";
      const settings = { startingPosition: "LATEST", topics: ["orders"], maximumRecordAgeInSeconds: 7200 };
      new CfnEventSourceMapping(stack, "Mapping", { functionName, eventSourceArn, ...settings });
    };

    expect(synthesized(seconds(7320), build)).toEqual(silence);
    expect(synthesized(seconds(7319), build).faults).toContain("7200 s as the maximum record age");
  });
});

describe("a pipe of EventBridge that feeds a function", () => {
  const pipeFrom =
    (source: (...given: Parameters<Build>) => string, more: object = {}): Build =>
    (stack, fn) => {
      new CfnPipe(stack, "Pipe", { roleArn, source: source(stack, fn), target: fn.functionArn, ...more });
    };
  const queueArn = (...[stack]: Parameters<Build>) =>
    new Queue(stack, "Queue", { retentionPeriod: Duration.days(2) }).queueArn;

  it("is covered by a retention as long as the queue's", () => {
    expect(synthesized(seconds(2 * DAY + 120), pipeFrom(queueArn))).toEqual(silence);
  });

  it("is refused with a shorter one, with the inequality", () => {
    expect(synthesized(seconds(2 * DAY + 119), pipeFrom(queueArn)).faults).toContain(
      "172919 s < 172920 s, the longest redelivery to Test/Fn (172800 s in Test/Queue + client window 120 s)",
    );
  });

  it("counts the hours of Lambda where it does not wait for the function", () => {
    const invocationType = "FIRE_AND_FORGET";
    const targetParameters = { lambdaFunctionParameters: { invocationType } };

    expect(
      synthesized(seconds(2 * DAY + 120), pipeFrom(queueArn, { targetParameters })).warnings.join(),
    ).toContain("172800 s in Test/Queue + 21600 s in the event queue of Test/Fn");
  });

  it("has the windows of its stream, and of the function that enriches", () => {
    const kinesis = (...[stack]: Parameters<Build>) =>
      new Stream(stack, "Stream", { retentionPeriod: Duration.days(3) }).streamArn;
    const kinesisStreamParameters = { startingPosition: "LATEST", maximumRecordAgeInSeconds: 7200 };
    const enriching: Build = (stack, fn) => {
      const target = new Queue(stack, "Target").queueArn;
      const enrichment = fn.functionArn;
      new CfnPipe(stack, "Pipe", { roleArn, source: kinesis(stack, fn), enrichment, target });
    };

    expect(synthesized(Duration.days(1), enriching).faults).toContain("259200 s in the stream Test/Stream");
    expect(
      synthesized(Duration.hours(1), pipeFrom(kinesis, { sourceParameters: { kinesisStreamParameters } }))
        .faults,
    ).toContain("7200 s as the maximum record age of Test/Pipe");
  });

  it("notes a source of another app", () => {
    const foreign = pipeFrom(() => "arn:aws:kafka:eu-central-1:123456789012:cluster/orders/1");

    expect(synthesized(Duration.days(1), foreign).notes.join()).toContain("the source of Test/Pipe");
  });
});

describe("a queue with a dead-letter queue that has a dead-letter queue", () => {
  const build: Build = (stack, fn) => {
    const kept = (days: number) => ({
      retentionPeriod: Duration.days(days),
      visibilityTimeout: seconds(10 * days),
    });
    const last = new Queue(stack, "Last", kept(3));
    const dead = new Queue(stack, "Dead", {
      ...kept(2),
      deadLetterQueue: { queue: last, maxReceiveCount: 7 },
    });
    const deadLetterQueue = { queue: dead, maxReceiveCount: 5 };
    fn.addEventSource(new SqsEventSource(new Queue(stack, "Queue", { ...kept(1), deadLetterQueue })));
  };
  const LONGEST = 10 * 5 + DAY + 20 * 7 + 2 * DAY + 3 * DAY + 120;

  it("is covered by a retention of all of them", () => {
    expect(synthesized(seconds(LONGEST), build)).toEqual(silence);
  });

  it("is refused with a shorter one, with the inequality", () => {
    expect(synthesized(seconds(LONGEST - 1), build).faults).toContain(
      "(visibility timeout 10 s × 5 receives + 86400 s in Test/Queue + visibility timeout 20 s × 7 receives + 172800 s in Test/Dead + 259200 s in Test/Last + client window 120 s)",
    );
  });

  it("is left to CDK where the queues lead back, as it refuses a ring", () => {
    const { faults } = synthesized(Duration.days(30), (stack, fn) => {
      const [first, second] = [new Queue(stack, "First"), new Queue(stack, "Second")];
      for (const [from, to] of [
        [first, second],
        [second, first],
      ] as const) {
        (from.node.defaultChild as CfnQueue).redrivePolicy = {
          deadLetterTargetArn: to.queueArn,
          maxReceiveCount: 3,
        };
      }
      fn.addEventSource(new SqsEventSource(first));
    });

    expect(faults).toMatch(/circular|cycl/i);
  });
});
