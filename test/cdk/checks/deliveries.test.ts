import { Duration, type Stack } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { AttributeType, StreamViewType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { CfnSubscriber, type CfnSubscriberProps } from "aws-cdk-lib/aws-eventsv2";
import {
  CfnEventSourceMapping,
  type CfnEventSourceMappingProps,
  type EventInvokeConfigOptions,
  type FunctionOptions,
  Runtime,
  StartingPosition,
} from "aws-cdk-lib/aws-lambda";
import { SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import {
  DynamoEventSource,
  ManagedKafkaEventSource,
  SelfManagedKafkaEventSource,
  SqsDlq,
  SqsEventSource,
  type SqsEventSourceProps,
} from "aws-cdk-lib/aws-lambda-event-sources";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Queue, type QueueProps } from "aws-cdk-lib/aws-sqs";
import { IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "../app-given.ts";
import { aFunction, faultsOf } from "../given.ts";

const PROVISIONED = { provisionedPollerConfig: { minimumPollers: 1, maximumPollers: 2 } };
const days = (count: number) => Duration.days(count);
const seconds = (count: number) => Duration.seconds(count);

function aConsumer(stack: Stack, id = "Fn", options: FunctionOptions = {}) {
  const fn = aFunction(stack, id, { timeout: seconds(5), ...options });
  const table = new IdempotencyTable(stack, `${id}Table`);
  return fn.with(new UseIdempotency(table, { operations: ["pay"], retention: days(60) })) as typeof fn;
}

/** The warnings of a synthesis, by their ids. */
function warningsOf(stack: Stack): Record<string, string> {
  expect(faultsOf(stack)).toBe("");
  const all = Annotations.fromStack(stack).findWarning("*", Match.anyValue());
  return Object.fromEntries(
    all.map(({ entry }) => {
      const [, text = "", id = ""] = /^(.*) \[ack: onceonly:(.+)\]$/.exec(String(entry.data)) ?? [];
      return [id, text];
    }),
  );
}

interface Given extends SqsEventSourceProps {
  readonly queue?: QueueProps;
  readonly deadLetters?: QueueProps & { readonly receives?: number };
  readonly fn?: FunctionOptions;
}

const deadLettersKept = days(14);

function warningsOfQueue({ queue = {}, deadLetters, fn, ...source }: Given): Record<string, string> {
  const stack = unitStack();
  const parked = { retentionPeriod: deadLettersKept, fifo: queue.fifo, ...deadLetters };
  const deadLetterQueue = {
    queue: new Queue(stack, "Parked", parked),
    maxReceiveCount: deadLetters?.receives ?? 3,
  };
  const settings = { visibilityTimeout: seconds(30), deadLetterQueue, ...queue };
  const events = new SqsEventSource(new Queue(stack, "Queue", settings), {
    reportBatchItemFailures: true,
    ...source,
  });
  aConsumer(stack, "Fn", fn).addEventSource(events);
  return warningsOf(stack);
}

describe("UseIdempotency warns of a queue", () => {
  it("not at all where it is as the checklist says", () => {
    expect(warningsOfQueue({})).toEqual({});
    expect(warningsOfQueue({ queue: { fifo: true } })).toEqual({});
    const twice = { queue: { visibilityTimeout: seconds(10) }, deadLetters: { receives: 2 } };
    expect(warningsOfQueue(twice)).toEqual({});
    expect(warningsOfQueue({ maxConcurrency: 5, fn: { reservedConcurrentExecutions: 5 } })).toEqual({});
  });

  it.each<[what: string, given: Given, id: string, text: string]>([
    [
      "whose failed messages are lost",
      { reportBatchItemFailures: undefined },
      "no-batch-failures",
      "Test/Queue feeds Test/Fn without ReportBatchItemFailures: Lambda treats any response as success of the whole batch",
    ],
    [
      "that hides messages for less than timeout and batching window",
      { queue: { visibilityTimeout: seconds(30) }, maxBatchingWindow: seconds(26) },
      "batching-window",
      "visibility timeout 30 s of Test/Queue < timeout 5 s of Test/Fn + batching window 26 s",
    ],
    [
      "that parks a message after one receive",
      { deadLetters: { receives: 1 } },
      "one-receive",
      "maxReceiveCount of Test/Queue is 1: a single throttled or killed invocation sends a message to the dead-letter queue",
    ],
    [
      "whose dead letters are deleted as early as its own messages",
      { queue: { retentionPeriod: days(14) } },
      "short-dead-letters",
      "Test/Parked keeps messages for 1209600 s, no longer than Test/Queue (1209600 s)",
    ],
    [
      "whose receives are used up before the lease of a dead attempt ends",
      { queue: { visibilityTimeout: seconds(9) }, deadLetters: { receives: 2 } },
      "retries-within-lease",
      "2 receives from Test/Queue come within 9 s < 10 s, the lease of an attempt that died (timeout 5 s of Test/Fn + clock skew 5 s)",
    ],
    [
      "of FIFO without dead letters",
      { queue: { fifo: true, deadLetterQueue: undefined } },
      "no-dead-letters",
      "Test/Queue is a FIFO queue without a dead-letter queue",
    ],
    [
      "of more invocations than are reserved",
      { maxConcurrency: 10, fn: { reservedConcurrentExecutions: 5 } },
      "throttled-source",
      "Test/Queue feeds Test/Fn with up to 10 concurrent invocations, but reservedConcurrentExecutions is 5",
    ],
    [
      "whose consumer may never run",
      { fn: { reservedConcurrentExecutions: 0 } },
      "no-concurrency",
      "reservedConcurrentExecutions of Test/Fn is 0, so it never runs",
    ],
  ])("%s", (_, given, id, text) => {
    const warnings = warningsOfQueue(given);

    expect(Object.keys(warnings)).toEqual([id]);
    expect(warnings[id]).toContain(text);
  });

  it("not of a batch of one, nor of dead letters of a FIFO queue, whose age begins anew", () => {
    expect(warningsOfQueue({ batchSize: 1, reportBatchItemFailures: undefined })).toEqual({});
    expect(warningsOfQueue({ queue: { fifo: true, retentionPeriod: days(14) } })).toEqual({});
  });

  it("that two functions consume", () => {
    const stack = unitStack();
    const queue = new Queue(stack, "Queue", { visibilityTimeout: seconds(30) });
    for (const id of ["Fn", "Other"]) {
      aConsumer(stack, id).addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
    }

    expect(warningsOf(stack)["shared-queue"]).toMatch(/^Test\/Queue feeds Test\/\w+ and 1 more/);
  });
});

describe("UseIdempotency warns of a stream", () => {
  function warningsOfStream(more: object, options: FunctionOptions = {}): Record<string, string> {
    const stack = unitStack();
    const partitionKey = { name: "id", type: AttributeType.STRING };
    const table = new TableV2(stack, "Orders", { partitionKey, dynamoStream: StreamViewType.NEW_IMAGE });
    const startingPosition = StartingPosition.LATEST;
    const onFailure = "parks" in more ? new SqsDlq(new Queue(stack, "Parked")) : undefined;
    const settings = { startingPosition, reportBatchItemFailures: true, onFailure, ...more };
    aConsumer(stack, "Fn", options).addEventSource(new DynamoEventSource(table, settings));
    return warningsOf(stack);
  }

  it("whose records are dropped after some retries, unless they are parked", () => {
    expect(warningsOfStream({})).toEqual({});
    expect(warningsOfStream({ retryAttempts: 3, parks: true })).toEqual({});
    expect(warningsOfStream({ retryAttempts: 3 })["dropped-records"]).toContain(
      "drops the records of a batch after 3 retries",
    );
  });

  it("whose retries are used up before the lease of a dead attempt ends", () => {
    // Each retry waits for 4 s of its 5 s.
    expect(warningsOfStream({ retryAttempts: 3, parks: true })).toEqual({});
    expect(warningsOfStream({ retryAttempts: 2, parks: true })["retries-within-lease"]).toMatch(
      /^2 retries of Test\/Fn\/.* wait for 8 s < 10 s, the lease of an attempt that died/,
    );
    expect(warningsOfStream({ maxRecordAge: seconds(60) })).toEqual({});
    const late = warningsOfStream({ maxRecordAge: seconds(60) }, { timeout: seconds(56) });
    expect(late["retries-within-lease"]).toContain("60 s < 61 s");
  });

  it("that is read by several batches of a shard at once", () => {
    expect(warningsOfStream({ parallelizationFactor: 1 })).toEqual({});
    expect(warningsOfStream({ parallelizationFactor: 4 })["parallel-shard"]).toContain(
      "feeds Test/Fn up to 4 batches of one shard at once: order holds within a partition key",
    );
  });

  it("whose failed records are lost", () => {
    expect(Object.keys(warningsOfStream({ reportBatchItemFailures: false }))).toEqual(["no-batch-failures"]);
  });

  it.each<[made: string, settings: object, warnings: Readonly<Record<string, string>>]>([
    ["as it is by default", {}, { "no-batch-failures": "Lambda delivers the whole batch again" }],
    [
      "in provisioned mode alone",
      PROVISIONED,
      { "no-batch-failures": "reportBatchItemFailures: true in idempotentBatch" },
    ],
    [
      "with the setting alone",
      { reportBatchItemFailures: true },
      { "not-provisioned": "which Lambda only supports for Kafka in provisioned mode" },
    ],
    ["with both", { ...PROVISIONED, reportBatchItemFailures: true }, {}],
    ["with batches of one", { batchSize: 1 }, {}],
  ])(
    "H95: F1: of Kafka whose failed records come again with all of their batch: %s",
    (_, settings, warnings) => {
      const kafka = { topic: "orders", startingPosition: StartingPosition.LATEST, ...settings };
      const clusterArn = "arn:aws:kafka:eu-central-1:123456789012:cluster/orders/1";
      const secret = (stack: Stack) => new Secret(stack, "Secret");
      for (const sourceOf of [
        () => new ManagedKafkaEventSource({ clusterArn, ...kafka }),
        (stack: Stack) =>
          new SelfManagedKafkaEventSource({
            bootstrapServers: ["b-1:9092"],
            secret: secret(stack),
            ...kafka,
          }),
      ]) {
        const stack = unitStack();
        aConsumer(stack).addEventSource(sourceOf(stack));
        const warned = warningsOf(stack);

        expect(Object.keys(warned)).toEqual(Object.keys(warnings));
        for (const [id, text] of Object.entries(warnings)) expect(warned[id]).toContain(text);
      }
    },
  );
});

describe("UseIdempotency warns about Kafka in queue mode", () => {
  function warningsOfShares(settings: Partial<CfnEventSourceMappingProps>): Record<string, string> {
    const stack = unitStack();
    new CfnEventSourceMapping(stack, "Mapping", {
      functionName: aConsumer(stack).functionName,
      topics: ["orders"],
      selfManagedEventSource: { endpoints: { kafkaBootstrapServers: ["b-1:9092"] } },
      selfManagedKafkaEventSourceConfig: { consumptionMode: "Queue" },
      functionResponseTypes: ["ReportBatchItemFailures"],
      provisionedPollerConfig: { minimumPollers: 1 },
      ...settings,
    });
    return warningsOf(stack);
  }

  it("F8: whose broker drops records after a few deliveries, unless there is a destination for them", () => {
    const parked = { onFailure: { destination: "arn:aws:sqs:eu-central-1:123456789012:parked" } };
    const stream = { consumptionMode: "Stream" };

    expect(warningsOfShares({})["dropped-records"]).toMatch(
      /^Test\/Mapping reads Kafka in queue mode without an onFailure destination.*retryAttempts, which is 0 by default/,
    );
    expect(warningsOfShares({ destinationConfig: parked })).toEqual({});
    expect(warningsOfShares({ selfManagedKafkaEventSourceConfig: stream })).toEqual({});
  });
});

describe("UseIdempotency warns about a subscriber of a custom event bus", () => {
  const warningsOfSubscriber = (settings: Partial<CfnSubscriberProps>, invocationType = "EVENT") => {
    const stack = unitStack();
    new CfnSubscriber(stack, "Subscriber", {
      eventBusArn: "arn:aws:events:eu-central-1:123456789012:event-busv2/orders/abcdefghijklmnopqrstuvwxy",
      name: "ship",
      startingPosition: "LATEST",
      invokeConfiguration: {
        targetArn: aConsumer(stack).functionArn,
        roleArn: "arn:aws:iam::123456789012:role/r",
        lambdaParameters: { invocationType },
      },
      batchConfiguration: { maxBatchSize: 1 },
      ...settings,
    });
    const { "dropped-events": dropped } = warningsOf(stack);
    const notes = Annotations.fromStack(stack).findInfo("*", Match.stringLikeRegexp("batched-events"));
    return { batched: notes.map(({ entry }) => String(entry.data)).join(), dropped };
  };

  it("F9: R1: that passes several events at once, as it does by default, only in a note, since idempotentBatch reads them", () => {
    const batched = (maxBatchSize?: number) =>
      warningsOfSubscriber({ batchConfiguration: { maxBatchSize } }).batched;

    expect(batched()).toMatch(
      /^Test\/Subscriber passes up to 10 events to Test\/Fn at once, as an array.*use idempotentBatch, or set MaxBatchSize to 1/,
    );
    expect(batched(2)).toContain("up to 2 events");
    expect(batched(1)).toBe("");
  });

  it("F9: that drops the events that its function fails for, after a few retries", () => {
    const onFailureConfiguration = { arn: "arn:aws:sqs:eu-central-1:123456789012:parked" };
    const retryPolicy = { maxRetryAttempts: 0 };

    expect(warningsOfSubscriber({}, "REQUEST_RESPONSE").dropped).toMatch(
      /^Test\/Subscriber drops an event when its retries are over .*Add an OnFailureConfiguration$/,
    );
    expect(warningsOfSubscriber({ retryPolicy }).dropped).toContain("because it has no dead-letter queue");
    expect(warningsOfSubscriber({}).dropped).toBeUndefined();
    expect(warningsOfSubscriber({ onFailureConfiguration }, "REQUEST_RESPONSE").dropped).toBeUndefined();
  });
});

describe("UseIdempotency warns of asynchronous invocations", () => {
  function warningsOfAsync(timeout: number, config: EventInvokeConfigOptions): Record<string, string> {
    const stack = unitStack();
    aConsumer(stack, "Fn", { timeout: seconds(timeout) }).configureAsyncInvoke(config);
    return warningsOf(stack);
  }

  it("whose retries are used up before the lease of a dead attempt ends", () => {
    expect(warningsOfAsync(175, {})).toEqual({});
    expect(warningsOfAsync(176, {})["retries-within-lease"]).toContain(
      "the retries of an asynchronous invocation of Test/Fn come within 180 s < 181 s, the lease of an attempt that died",
    );
    expect(warningsOfAsync(56, { retryAttempts: 1 })["retries-within-lease"]).toContain("60 s < 61 s");
    expect(warningsOfAsync(120, { maxEventAge: seconds(100) })["retries-within-lease"]).toContain(
      "100 s < 125 s",
    );
  });

  it("not where the event is kept, or no retry is wanted", () => {
    const stack = unitStack();
    const onFailure = new SqsDestination(new Queue(stack, "Failed"));
    aConsumer(stack, "Fn", { timeout: seconds(600) }).configureAsyncInvoke({ onFailure });

    expect(warningsOf(stack)).toEqual({});
    expect(warningsOfAsync(600, { retryAttempts: 0 })).toEqual({});
  });
});

describe("UseIdempotency refuses a runtime that cannot run onceonly", () => {
  const faultsOn = (runtime: Runtime) => {
    const stack = unitStack();
    aConsumer(stack, "Fn", { runtime } as FunctionOptions);
    return faultsOf(stack);
  };

  it.each([Runtime.NODEJS_18_X, Runtime.PYTHON_3_12])("$name", (runtime) => {
    expect(faultsOn(runtime)).toContain(
      `Test/Fn runs on ${runtime.name}: onceonly needs Node.js 20 or newer. Use Runtime.NODEJS_24_X or NODEJS_22_X`,
    );
  });

  it.each([Runtime.NODEJS_20_X, Runtime.NODEJS_LATEST])("but takes $name", (runtime) => {
    expect(faultsOn(runtime)).toBe("");
  });

  it.each([
    [Runtime.NODEJS_20_X, 1],
    [Runtime.NODEJS_22_X, 0],
    [Runtime.NODEJS_24_X, 0],
  ])("F7: and warns of a runtime that Lambda has deprecated: $0.name", (runtime, count) => {
    const stack = unitStack();
    aConsumer(stack, "Fn", { runtime } as FunctionOptions);
    const pattern = Match.stringLikeRegexp("deprecated on 2026-04-30.*onceonly:deprecated-runtime");

    expect(Annotations.fromStack(stack).findWarning("*", pattern)).toHaveLength(count);
  });
});
