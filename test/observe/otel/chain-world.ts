// HTTP, a commit, the relay on the table's stream, SQS and a consumer, on real engines. All that anybody could print of it is
// kept: items, lines of logs and metrics, spans, and answers.
import { type DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { DeleteMessageCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import type { Context, SQSRecord } from "aws-lambda";
import {
  type DecisionEvent,
  decisionLog,
  emfMetrics,
  httpIdempotent,
  idempotentBatch,
  type Store,
} from "onceonly";
import { DynamoDBOutbox, DynamoDBStore } from "onceonly/dynamodb";
import { type OutboxOptions, outboxRelay, outboxSweeper } from "onceonly/messaging";
import { openTelemetry } from "onceonly/otel";
import { decryptingOutbox, encrypted } from "onceonly/stores";
import { fakeLambdaContext } from "onceonly/testing";
import { fakeClock } from "../../../lib/testing/fake-clock.ts";
import { sqsRecord } from "../../../packages/explorer/lib/aws/event-sources/sqs-record.ts";
import type { ReceivedMessage } from "../../../packages/explorer/lib/aws/sqs/operations.ts";
import { newFifo } from "../../../packages/explorer/test/aws/sqs/cases/case.ts";
import { sdkSubject, sqsClient } from "../../../packages/explorer/test/aws/sqs/cases/sdk-subject.ts";
import { startSqs } from "../../../packages/local/lib/sqs/start-sqs.ts";
import { readStream } from "../../kit/table-stream.ts";
import { createOutboxTable } from "../../kit/tables.ts";
import { timeless } from "../../kit/time/timeless.ts";
import { keyService } from "../../stores/privacy-given.ts";

export type ChainWorld = Awaited<ReturnType<typeof newChainWorld>>;

interface Answer {
  readonly statusCode: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

function collect() {
  const spans = new InMemorySpanExporter();
  const points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: points, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({ readers: [reader] });
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  return { spans, points, reader, meters, tracers };
}

export async function newChainWorld(dynamodb: DynamoDBClient, endpoint: string) {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const { spans, points, reader, meters, tracers } = collect();
  const tracer = tracers.getTracer("test");
  const clock = fakeClock(Date.now());
  const tableName = await createOutboxTable(dynamodb);
  const nextChanges = await readStream(dynamodb, endpoint, tableName);
  const engine = await startSqs({ clock });
  const sqs = sqsClient(engine.endpoint);
  const subject = sdkSubject({ endpoint: engine.endpoint, clock, stop: () => engine.stop() });
  const queue = await newFifo(subject);
  // A healthy queue beside a destination that is gone.
  const deadQueue = queue.replace(/[^/]+$/, "gone.fifo");
  const keys = keyService();
  const lines: string[] = [];
  const answers: Answer[] = [];
  /** What the consumer was given. */
  const bodies: string[] = [];

  const telemetry = openTelemetry({ tracer, meter: meters.getMeter("onceonly"), clock });
  const write = (line: string) => lines.push(line);
  const logger = Object.fromEntries(
    ["info", "warn", "error"].map((level) => [
      level,
      (message: string, fields: object) => write(JSON.stringify({ level, message, ...fields })),
    ]),
  );
  const log = decisionLog({ logger: logger as never });
  const emf = emfMetrics({ write, clock });
  const observe = (event: DecisionEvent) => {
    telemetry.observe(event);
    log(event);
    emf(event);
  };
  const storeOf = () => {
    const plain: Store<never> = new DynamoDBStore({ tableName, client: dynamodb }) as never;
    return telemetry.linked(encrypted(plain, { keys, messages: true, clock }));
  };

  const http = httpIdempotent(
    async (event: { readonly body: string | null }, { idempotency }) => {
      const body = JSON.parse(`${event.body}`);
      const { order: group = "order-7", tellsDead = false, card } = body;
      const messages = [
        { queue, key: `${group}/paid`, group, body, attributes: { card } },
        ...(tellsDead ? [{ queue: deadQueue, key: `${group}/reported`, group, body }] : []),
      ];
      return idempotency.commit(
        { statusCode: 201, body: JSON.stringify({ paid: true, ...body }) },
        { messages },
      );
    },
    { operation: "pay", store: storeOf(), scope: () => "acme", clock, ...telemetry.options, observe },
  ) as unknown as (event: object, context: Context) => Promise<Answer>;

  const consumer = idempotentBatch<SQSRecord, never>(
    ({ body }) => {
      bodies.push(body);
    },
    {
      operation: "ship",
      store: storeOf(),
      clock,
      ...telemetry.options,
      observe,
      retentionSeconds: 1_209_600,
    },
  );

  const sending: OutboxOptions = {
    outbox: decryptingOutbox(new DynamoDBOutbox({ tableName, client: dynamodb }), { keys, clock }),
    destinations: "any",
    sqs,
    clock: timeless(clock),
    parkAfterTries: 2,
    observe(event) {
      telemetry.observe(event);
      emf(event);
    },
  };
  const [relay, sweeper] = [outboxRelay(sending), outboxSweeper(sending)];

  /** One invocation under a root span of its own, as instrumentation of Lambda makes it. */
  async function invoked<T>(name: string, work: () => Promise<T>): Promise<T> {
    const span = tracer.startSpan(name, { root: true });
    try {
      return await context.with(trace.setSpan(context.active(), span), work);
    } finally {
      span.end();
    }
  }

  return {
    spans: () => spans.getFinishedSpans(),
    lines,
    answers,
    bodies,
    async post(key: string, body: object, name = "POST /payments"): Promise<Answer> {
      const event = {
        version: "2.0",
        headers: { "idempotency-key": key, "content-type": "application/json" },
        requestContext: { http: { method: "POST", path: "/payments" } },
        body: JSON.stringify(body),
        isBase64Encoded: false,
      };
      const answer = await invoked(name, () => http(event, fakeLambdaContext({ clock }) as Context));
      answers.push(answer);
      return answer;
    },
    relay: async () =>
      invoked("relay", async () => relay({ Records: await nextChanges() }, fakeLambdaContext({ clock }))),
    async sweep(): Promise<void> {
      await clock.advance(61_000);
      await invoked("sweep", () => sweeper({}, fakeLambdaContext({ clock })));
    },
    /** `isTraced`: the function has instrumentation, so that its invocations are spans. */
    async consume({ isTraced = true } = {}): Promise<void> {
      const names = { MessageSystemAttributeNames: ["All" as const], MessageAttributeNames: ["All"] };
      const request = new ReceiveMessageCommand({ QueueUrl: queue, MaxNumberOfMessages: 10, ...names });
      const { Messages = [] } = await sqs.send(request);
      const Records = Messages.map(
        (message) =>
          sqsRecord(
            message as ReceivedMessage,
            "arn:aws:sqs:us-east-1:000000000000:q.fifo",
            "us-east-1",
          ) as SQSRecord,
      );
      const work = () => consumer({ Records }, fakeLambdaContext({ clock }) as Context);
      const invocation = () => (isTraced ? invoked("consume", work) : work());
      await invocation();
      // SQS delivers at least once.
      await invocation();
      for (const { ReceiptHandle } of Messages)
        await sqs.send(new DeleteMessageCommand({ QueueUrl: queue, ReceiptHandle }));
    },
    async items(): Promise<string> {
      const { Items } = await dynamodb.send(new ScanCommand({ TableName: tableName, ConsistentRead: true }));
      return JSON.stringify(Items);
    },
    async metrics() {
      await reader.forceFlush();
      const [last] = points.getMetrics().slice(-1);
      return (last?.scopeMetrics ?? []).flatMap(({ metrics }) => metrics);
    },
    async stop(): Promise<void> {
      context.disable();
      propagation.disable();
      await meters.shutdown();
      await tracers.shutdown();
      sqs.destroy();
      await subject.stop();
    },
  };
}
