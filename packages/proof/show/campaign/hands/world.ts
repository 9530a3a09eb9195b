// The store and the tables of one process's handlers, reached through the campaign's proxies.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { Store } from "onceonly";
import { DynamoDBOutbox, DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import * as lean from "onceonly/lean";
import type { Outbox } from "onceonly/messaging";
import type { Clock } from "onceonly/store-kit";
import { naiveStore } from "./naive-store.ts";
import { skewedClock } from "./skewed-clock.ts";

export interface WorldOptions {
  readonly dynamodb: string;
  /** Absent if nothing is sent. */
  readonly sqs?: string;
  readonly records: string;
  readonly effects: string;
  /** URLs by name. */
  readonly queues: Readonly<Record<string, string>>;
  readonly skewMs: number;
  readonly clockSkewSeconds: number;
  /** Without it the store forgets to look whose claim it is. */
  readonly isFenced: boolean;
  /** Whether records are reached by `onceonly/lean`. */
  readonly isLean: boolean;
}

export interface World extends WorldOptions {
  readonly store: Store<DynamoDBWrite>;
  readonly outbox: Outbox;
  readonly client: DynamoDBClient;
  readonly documents: DynamoDBDocumentClient;
  readonly sqsClient: SQSClient;
  readonly clock: Clock;
}

/** In a storm: short, so delayed requests arrive after those that repeat them. */
const STORM_TIMEOUT_MS = 1000;
/** In the calm: nothing is to fail because the machine is slow. */
const CALM_TIMEOUT_MS = 15_000;

const COMMON = {
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
  maxAttempts: 3,
};

export function createWorld(options: WorldOptions, isCalm: boolean): World {
  const requestTimeout = isCalm ? CALM_TIMEOUT_MS : STORM_TIMEOUT_MS;
  const CLIENT = {
    ...COMMON,
    requestHandler: { connectionTimeout: requestTimeout, requestTimeout, throwOnRequestTimeout: true },
  };
  const client = new DynamoDBClient({ ...CLIENT, endpoint: options.dynamodb });
  const documents = DynamoDBDocumentClient.from(client);
  const { own, outbox } = recordsOf(options, client, requestTimeout);
  const store = options.isFenced ? own : naiveStore(own, documents);
  const sqsClient = new SQSClient({
    ...CLIENT,
    ...(options.sqs && { endpoint: options.sqs }),
    useQueueUrlAsEndpoint: false,
  });
  return { ...options, store, outbox, client, documents, sqsClient, clock: skewedClock(options.skewMs) };
}

function recordsOf(
  { records: tableName, dynamodb: endpoint, isLean }: WorldOptions,
  client: DynamoDBClient,
  ms: number,
) {
  if (!isLean) {
    return {
      own: new DynamoDBStore({ tableName, client }),
      outbox: new DynamoDBOutbox({ tableName, client }),
    };
  }
  const timeouts = { connectionTimeoutMs: ms, requestTimeoutMs: ms };
  const leanClient = new lean.LeanDynamoDB({ ...COMMON, ...timeouts, endpoint });
  return {
    own: new lean.DynamoDBStore({ tableName, client: leanClient }),
    outbox: new lean.DynamoDBOutbox({ tableName, client: leanClient }),
  };
}
