// What the handlers of one process work with: the store and the tables, reached through the campaign's proxies.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { type Clock, DynamoDBStore, type DynamoDBWrite, type Store } from "onceonly";
import { naiveStore } from "./naive-store.ts";
import { skewedClock } from "./skewed-clock.ts";

export interface WorldOptions {
  readonly dynamodb: string;
  /** Absent where nothing is sent. */
  readonly sqs?: string;
  readonly records: string;
  readonly effects: string;
  /** URLs by name. */
  readonly queues: Readonly<Record<string, string>>;
  readonly skewMs: number;
  readonly clockSkewSeconds: number;
  /** Without it the store forgets to look whose claim it is. */
  readonly isFenced: boolean;
}

export interface World extends WorldOptions {
  readonly store: Store<DynamoDBWrite>;
  readonly client: DynamoDBClient;
  readonly documents: DynamoDBDocumentClient;
  readonly sqsClient: SQSClient;
  readonly clock: Clock;
}

/** In a storm: short, so that requests that are delayed arrive after those that repeat them. */
const STORM_TIMEOUT_MS = 1000;
/** In the calm: nothing is to fail because the machine is slow. */
const CALM_TIMEOUT_MS = 15_000;

export function createWorld(options: WorldOptions, isCalm: boolean): World {
  const requestTimeout = isCalm ? CALM_TIMEOUT_MS : STORM_TIMEOUT_MS;
  const CLIENT = {
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 3,
    requestHandler: { connectionTimeout: requestTimeout, requestTimeout, throwOnRequestTimeout: true },
  };
  const client = new DynamoDBClient({ ...CLIENT, endpoint: options.dynamodb });
  const documents = DynamoDBDocumentClient.from(client);
  const own = new DynamoDBStore({ tableName: options.records, client });
  const store = options.isFenced ? own : naiveStore(own, documents);
  const sqsClient = new SQSClient({
    ...CLIENT,
    ...(options.sqs && { endpoint: options.sqs }),
    useQueueUrlAsEndpoint: false,
  });
  return { ...options, store, client, documents, sqsClient, clock: skewedClock(options.skewMs) };
}
