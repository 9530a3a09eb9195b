// The whole sample on local engines, with queues, event sources and schedules on a clock that tests move. What waits
// for a visibility timeout comes at once. Functions keep the machine's time.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient, ScanCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { DEMO_TOKENS } from "../../bin/demo-tokens.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { type RunningStack, startStack } from "../../packages/local/lib/index.ts";
import { sampleAssembly } from "../kit/sample-assembly.ts";

export type Row = Readonly<Record<string, unknown>>;

export interface Shop {
  readonly stack: RunningStack;
  readonly sqs: SQSClient;
  /** All that functions and the local runner printed. */
  readonly lines: readonly string[];
  /** What functions reported as an error. */
  readonly errors: readonly string[];
  /** What functions logged in the embedded metric format. */
  readonly measured: readonly Row[];
  /** Asks for an order, as a client does. */
  order(card: string, key?: string): Promise<{ readonly id: string; readonly replayed: boolean }>;
  /** What became of an order: in its own row, the payments and the sandbox's ledger. */
  effectsOf(orderId: string): Promise<{ state: unknown; payments: Row[]; ledger: Row[] }>;
  /** Moves time on until it is so. */
  until(isSo: () => Promise<boolean>): Promise<void>;
  /** Resolves when nothing of the messages that were committed waits to be relayed or delivered any more. */
  settled(): Promise<void>;
  /** Resolves when the gateway has seen so many attempts to charge an order; the last of them may go on. */
  asked(orderId: string, attempts: number): Promise<void>;
  /** Resolves when, besides, the last of them has ended. */
  attempted(orderId: string, attempts: number): Promise<void>;
  /** Makes commits with unsent messages as old as the sweeper wants them, which goes by the machine's time. */
  ageUnsent(): Promise<void>;
  /** The whole visibility timeout of the payments queue goes by. */
  passVisibilityTimeout(): Promise<void>;
  eventSourceOf(functionPath: string): RunningStack["eventSources"][string];
  /** Messages that wait in a queue, and messages that are with a consumer. */
  countMessages(queue: string): Promise<{ readonly visible: number; readonly inFlight: number }>;
  stop(): Promise<void>;
}

const region = "us-east-1";
const credentials = { accessKeyId: "local", secretAccessKey: "local" };

/** On a DynamoDB that runs already, or on one of its own. */
export async function startShop(dynamodbEndpoint?: string): Promise<Shop> {
  const clock = fakeClock(Date.now());
  const folder = await sampleAssembly();
  const errors: string[] = [];
  const measured: Row[] = [];
  const lines: string[] = [];
  function log(line: string): void {
    lines.push(line);
    if (line.includes("\tERROR\t")) errors.push(line);
    const [, metrics] = /^\[\S+\] (\{"_aws":.*)$/.exec(line) ?? [];
    if (metrics !== undefined) measured.push(JSON.parse(metrics));
  }
  const stack = await startStack({ folder, clock, dynamodbEndpoint, log });
  const dynamodb = new DynamoDBClient({ endpoint: stack.endpoints.dynamodb, region, credentials });
  const sqs = new SQSClient({ endpoint: stack.endpoints.sqs, region, credentials });

  async function rowsOf(table: string): Promise<Row[]> {
    const { Items = [] } = await dynamodb.send(
      new ScanCommand({ TableName: stack.tables[table]?.name, ConsistentRead: true }),
    );
    return Items.map((item) => unmarshall(item));
  }

  async function countMessages(queue: string) {
    const { Attributes = {} } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: stack.queues[queue]?.url, AttributeNames: ["All"] }),
    );
    const { ApproximateNumberOfMessages, ApproximateNumberOfMessagesNotVisible } = Attributes;
    return {
      visible: Number(ApproximateNumberOfMessages),
      inFlight: Number(ApproximateNumberOfMessagesNotVisible),
    };
  }

  async function isSettled(): Promise<boolean> {
    const records = await rowsOf("Idempotency");
    if (records.some(({ unsentSince, state }) => unsentSince !== undefined || state === "in-progress")) {
      return false;
    }
    const { visible, inFlight } = await countMessages("PaymentsQueue");
    return visible + inFlight === 0;
  }

  async function isAsked(orderId: string, attempts: number): Promise<boolean> {
    const [entry] = (await rowsOf("Ledger")).filter((row) => row.orderId === orderId);
    return Number(entry?.attempts ?? 0) >= attempts;
  }

  const isAttempted = async (orderId: string, attempts: number) =>
    (await isAsked(orderId, attempts)) &&
    (await rowsOf("Idempotency")).every(({ state }) => state !== "in-progress");

  async function until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) {
      // An idle stream is looked at again after 100 ms of the clock.
      await clock.advance(100);
      await sleep(10);
    }
  }

  return {
    stack,
    sqs,
    lines,
    errors,
    measured,
    async order(card, key = randomUUID()) {
      const response = await fetch(`${stack.url}/orders`, {
        method: "POST",
        headers: { authorization: `Bearer ${DEMO_TOKENS.acme}`, "idempotency-key": key },
        body: JSON.stringify({ sku: "tea", quantity: 2, card }),
      });
      if (response.status !== 201) throw new Error(`no order: ${response.status}`);
      const { id } = (await response.json()) as { id: string };
      return { id, replayed: response.headers.get("idempotent-replayed") === "true" };
    },
    async effectsOf(orderId) {
      const [orders, payments, ledger] = await Promise.all(["Orders", "Payments", "Ledger"].map(rowsOf));
      const ofOrder = (row: Row) => row.orderId === orderId;
      return {
        state: orders?.find(({ id }) => id === orderId)?.state,
        payments: payments?.filter(ofOrder) ?? [],
        ledger: ledger?.filter(ofOrder) ?? [],
      };
    },
    until,
    settled: () => until(isSettled),
    asked: (orderId, attempts) => until(() => isAsked(orderId, attempts)),
    attempted: (orderId, attempts) => until(() => isAttempted(orderId, attempts)),
    async ageUnsent() {
      const TableName = stack.tables.Idempotency?.name;
      for (const { pk, unsentSince } of await rowsOf("Idempotency")) {
        if (unsentSince === undefined) continue;
        await dynamodb.send(
          new UpdateItemCommand({
            TableName,
            Key: { pk: { S: String(pk) } },
            UpdateExpression: "SET unsentSince = :before",
            ExpressionAttributeValues: { ":before": { N: String(Number(unsentSince) - 120_000) } },
          }),
        );
      }
    },
    countMessages,
    eventSourceOf(functionPath) {
      const [, source] =
        Object.entries(stack.eventSources).find(([path]) => path.startsWith(`${functionPath}/`)) ?? [];
      if (!source) throw new Error(`${functionPath} has no event source`);
      return source;
    },
    async passVisibilityTimeout() {
      await clock.advance(61_000);
    },
    async stop() {
      dynamodb.destroy();
      sqs.destroy();
      await stack.stop();
    },
  };
}
