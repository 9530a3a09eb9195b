// The chain with several destinations, one of which never goes away. Orders commit messages, a stream feeds the
// relay, a sweeper comes by, and each destination has a consumer with one effect for each message. One
// schedule is as its plan says.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { idempotent, idempotentBatch } from "onceonly";
import { DynamoDBOutbox, DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { outboxRelay, outboxSweeper } from "onceonly/messaging";
import type { Clock } from "onceonly/store-kit";
import { identify } from "../../../../../lib/core/identity.ts";
import { randomFaults } from "../../../lib/simulator/random-faults.ts";
import type { LambdaHandler, SimulatedFunction } from "../../../lib/simulator/simulated-function.ts";
import type { Simulator } from "../../../lib/simulator/simulator.ts";
import { streamReader } from "../../../lib/simulator/stream-reader.ts";
import { givenAws, rowsOf } from "../given.ts";
import {
  type Absence,
  type ChainOrder,
  type ChainPlan,
  type Destination,
  PARK_AFTER_MS,
} from "./chain-plan.ts";

export interface ChainPlayed {
  readonly aws: Simulator;
  /** How often each order was asked for in vain, to its end. */
  readonly unanswered: readonly string[];
  /** Whether nothing waits any more, and how many messages were parked before. */
  readonly isDone: boolean;
  readonly parked: number;
  /** In the order of the stream. */
  readonly commits: readonly Commit[];
}

export interface Commit {
  /** The key of its order. */
  readonly key: string;
  /** Epoch ms, by the clock of the host that committed. */
  readonly at: number;
  /** The shard of the outbox's index that holds its messages. */
  readonly shard: number;
}

/** What a control takes away. */
export interface Without {
  readonly outbox?: (options: ConstructorParameters<typeof DynamoDBOutbox>[0]) => DynamoDBOutbox;
  /** In place of a consumer that is idempotent. */
  readonly consumer?: (destination: string) => LambdaHandler;
}

const SETTINGS = {
  requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
  // What a simulation has no use for takes a third of its time.
  signer: { sign: async <Request>(request: Request) => request },
  cacheMiddleware: true,
};
const client = new DynamoDBClient({ ...SETTINGS, endpoint: "https://dynamodb.us-east-1.amazonaws.com" });
const sqs = new SQSClient({
  ...SETTINGS,
  endpoint: "https://sqs.us-east-1.amazonaws.com",
  useQueueUrlAsEndpoint: false,
});
const tableName = "idempotency";

const MINUTE = 60_000;
const SKEWS_MS = [0, 300, -300] as const;
const MOST_FAULTS = 10;
const MOST_TRIES = 40;
/** More than what waits for a destination that has come back can take. */
const MOST_MS = 8 * 60 * MINUTE;

const urlOf = (queue: string) => `https://sqs.us-east-1.amazonaws.com/000000000000/${queue}`;

export async function playChain(plan: ChainPlan, without: Without = {}): Promise<ChainPlayed> {
  const { seed, faultRate, destinations } = plan;
  const latencyMs = Object.fromEntries(
    destinations.map(({ name, latencyMs = [4, 20] }) => [name, latencyMs]),
  );
  const aws = givenAws({ seed, latencyMs });
  let areBack = false;
  const accidents = randomFaults({ seed, rate: faultRate, most: MOST_FAULTS });
  aws.faults = (io) => {
    const accident = accidents(io);
    if (io.service !== "sqs" || !/^(relay|sweeper)/.test(io.hostId)) return accident;
    const absence = areBack ? undefined : absenceAt(destinations, io.target, io.at);
    if (absence) return faultOf(absence);
    const { hiccupsMs = 0 } = destinations.find(({ name }) => name === io.target) ?? {};
    if (accident || io.at >= hiccupsMs) return accident;
    return { kind: "refused-entries", entries: [0], code: "KmsThrottled", senderFault: true };
  };
  const outbox = without.outbox ?? ((options) => new DynamoDBOutbox(options));
  const senders = () => ({
    outbox: outbox({ tableName, client, shards: plan.shards }),
    destinations: "any" as const,
    sqs,
    parkAfterSeconds: PARK_AFTER_MS / 1000,
    observe: () => {},
  });
  const once = { timeoutSeconds: 20, concurrency: 1 };
  const relay = aws.lambdaPerEnvironment(() => outboxRelay(senders()), { name: "relay", ...once });
  const sweeper = aws.lambdaPerEnvironment(() => outboxSweeper(senders()), { name: "sweeper", ...once });
  const order = aws.lambda(orderHandler(plan), { name: "order", timeoutSeconds: 10, skewsMs: SKEWS_MS });
  const filters = [{ dynamodb: { NewImage: { unsentSince: { N: [{ exists: true }] } } } }];
  aws.connectTable(relay, { tableName, batchSize: plan.batchSize, filters });
  for (const destination of destinations) connectConsumer(aws, destination, without);

  return aws.run(async () => {
    let isOver = false;
    const isWaiting = async () => !isOver || (await rowsOf(aws, tableName)).some(waits);
    const sweep = async () => {
      for (let ms = 0; ms < MOST_MS && (await isWaiting()); ms += plan.sweepMs) {
        await aws.clock.sleep(plan.sweepMs);
        void sweeper.invokeAsync({});
      }
    };
    const sweeping = sweep();
    const ends = await Promise.all(
      plan.orders.flatMap((each) => each.startsMs.map((ms) => ask(aws, order, each, ms))),
    );
    isOver = true;
    await sweeping;
    await aws.untilIdle();
    areBack = true;
    let parked = 0;
    // What is unlucky once more is parked once more: it is too old.
    for (let again = -1, tries = 0; again !== 0 && tries < 5; tries++) {
      again = await sendParkedAgain(plan.shards, aws.clock);
      parked += again;
      if (again > 0) await sweep();
    }
    await aws.untilIdle();
    // What was frozen comes back, late.
    await aws.clock.sleep(20 * MINUTE);
    await sweep();
    await aws.untilIdle();
    const isDone = !(await rowsOf(aws, tableName)).some((row) => row.unsentSince);
    const unanswered = ends.filter((end) => end !== undefined);
    return { aws, parked, isDone, unanswered, commits: await commitsIn(aws, plan) };
  });
}

function absenceAt(destinations: readonly Destination[], target: string, at: number): Absence | undefined {
  const away = destinations.find(({ name }) => name === target)?.away ?? [];
  return away.find(({ fromMs, toMs }) => at >= fromMs && at < toMs)?.how;
}

function faultOf(absence: Absence) {
  switch (absence) {
    case "refuses":
      return { kind: "refused", code: "QueueDoesNotExist" } as const;
    case "is out of order":
      return { kind: "refused", code: "ServiceUnavailable", status: 503 } as const;
    case "throttles":
      return { kind: "throttle" } as const;
    case "hangs":
      return { kind: "unanswered" } as const;
    case "lost":
      return { kind: "unanswered", when: "after" } as const;
  }
}

/** Whether senders have to do with it: not where all that is left is parked. */
function waits({ unsentShard }: Readonly<Record<string, { readonly N?: string }>>): boolean {
  return unsentShard !== undefined && Number(unsentShard.N) >= 0;
}

function orderHandler({ mode, shards }: ChainPlan): LambdaHandler {
  return idempotent(
    async ({ key, messages, padding }: ChainOrder, { idempotency }) =>
      idempotency.commit(null, {
        writes: [{ Put: { TableName: "orders", Item: { tenant: "t", id: crypto.randomUUID(), of: key } } }],
        messages: messages.map(({ name, destination, group }) => ({
          queue: urlOf(destination),
          key: name,
          body: name.padEnd(padding),
          ...(group !== undefined && { group }),
        })),
      }),
    {
      operation: "order",
      mode,
      store: new DynamoDBStore({ tableName, client, outbox: { shards } }),
      key: ({ key }) => key,
      fingerprint: ({ key }) => key,
    },
  );
}

function connectConsumer(aws: Simulator, { name, isFifo }: Destination, { consumer }: Without): void {
  const disorder = isFifo ? { perGroup: true } : { repeats: 0.2, shuffles: true };
  const queueUrl = aws.queue(name, { visibilitySeconds: 60, ...disorder });
  const handler = consumer?.(name) ?? consumerOf(name);
  const fn = aws.lambda(handler, { name: `consumer of ${name}`, timeoutSeconds: 10 });
  aws.connectQueue(fn, { queueUrl, concurrency: 1 });
}

function consumerOf(name: string): LambdaHandler {
  return idempotentBatch<SQSRecord, DynamoDBWrite>(
    async ({ body }, { idempotency }) => {
      const Item = { id: crypto.randomUUID(), of: `${body.trim()} at ${name}` };
      return idempotency.commit(null, { writes: [{ Put: { TableName: "effects", Item } }] });
    },
    { operation: name, store: new DynamoDBStore({ tableName, client }), retentionSeconds: 14 * 86_400 },
  );
}

/** Asks until there is an answer; the key where there is none in the end. */
async function ask(
  aws: Simulator,
  fn: SimulatedFunction,
  { startsMs: _, ...order }: ChainOrder,
  startMs: number,
): Promise<string | undefined> {
  await aws.clock.sleep(startMs);
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    if ((await fn.invoke(order)).outcome === "returned") return undefined;
    await aws.clock.sleep(2000);
  }
  return order.key;
}

/** As an operator does once the destination is back. Answers how many commits had parked messages. */
async function sendParkedAgain(shards: number, clock: Clock): Promise<number> {
  const outbox = new DynamoDBOutbox({ tableName, client, shards });
  let parked = 0;
  const operator = { by: "an operator", why: "the destination is back", clock };
  for await (const { commit } of outbox.list("parked")) {
    if (commit && (await outbox.sendAgain(commit, operator))) parked++;
  }
  return parked;
}

async function commitsIn(aws: Simulator, { orders }: ChainPlan): Promise<Commit[]> {
  const records = await streamReader(aws.dynamodb, tableName).next(1000);
  const images = records.map(({ dynamodb }) => Object(dynamodb).NewImage ?? {});
  const commits = orders.map(({ key }) => {
    const { recordKey } = identify("order", "", key);
    const place = images.findIndex(({ pk, unsentSince }) => pk?.S === recordKey && unsentSince);
    const { unsentSince, unsentShard } = { ...images[place] };
    return { place, key, at: Number(unsentSince?.N), shard: Number(unsentShard?.N) };
  });
  return commits.sort((one, other) => one.place - other.place);
}
