// The same function behind Powertools and behind onceonly, each with a table of its own in a model of DynamoDB.
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { makeHandlerIdempotent } from "@aws-lambda-powertools/idempotency/middleware";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import middy, { type MiddlewareObj } from "@middy/core";
import type { Context } from "aws-lambda";
import { idempotency, idempotent } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { fakeLambdaContext } from "onceonly/testing";
import { DynamoDBModel } from "../../packages/explorer/lib/aws/dynamodb/dynamodb-model.ts";
import { createTable } from "../kit/tables.ts";

export interface Order {
  readonly id?: string;
  readonly cents?: number;
  readonly note?: string;
}

export type Handler = (event: Order, context: Context) => Promise<unknown>;

export interface Settings {
  /** The name of the operation; the same function under two of them is two. */
  readonly name?: string;
  readonly expiresAfterSeconds?: number;
  /** Whether an event without a key runs, which is what Powertools does by default. */
  readonly runsWithoutKey?: boolean;
  /** Whether `cents` is compared by an option; without one, each package does what it does by default. */
  readonly comparesPayloads?: boolean;
  /** Only where a test is about it: a table with a sort key. */
  readonly hasSortKey?: boolean;
}

export interface Package {
  readonly name: "Powertools" | "onceonly";
  /** What a duplicate of a call in progress gets, and one with another payload. */
  readonly errors: { readonly inProgress: string; readonly mismatch: string; readonly keyMissing: string };
  readonly wrap: (handler: Handler, settings?: Settings) => Handler;
  /** In a Middy stack, with `before` used before the idempotency. */
  readonly use: (handler: Handler, settings?: Settings, before?: () => void) => Handler;
  /** What the table holds. */
  readonly items: () => Promise<readonly Record<string, unknown>[]>;
  /** The client of the table, for faults. */
  readonly client: DynamoDBClient;
}

/** A client, tables by their keys, and what is in them. */
const newDatabase = () => {
  const model = new DynamoDBModel();
  const client = new DynamoDBClient(model.clientConfig());
  const tables = new Map<string, Promise<string>>();
  const table = (...key: readonly string[]) => {
    const made = tables.get(key.join()) ?? createTable(client, ...key);
    tables.set(key.join(), made);
    return made;
  };
  const items = async () => {
    const names = await Promise.all(tables.values());
    const scans = names.map((TableName) => model.call("Scan", { TableName }));
    return (await Promise.all(scans)).flatMap(({ Items = [] }) => Items);
  };
  return { client, table, items };
};

/** The key is `id`, and two payloads differ in `cents`. */
export async function powertools(): Promise<Package> {
  const { client, table, items } = newDatabase();
  const [plain, sorted] = [await table("id"), await table("id", "sort")];
  const optionsOf = (settings: Settings = {}) => ({
    persistenceStore: new DynamoDBPersistenceLayer({
      tableName: settings.hasSortKey ? sorted : plain,
      awsSdkV3Client: client,
      ...(settings.hasSortKey && { sortKeyAttr: "sort" }),
    }),
    keyPrefix: settings.name ?? "charge",
    config: new IdempotencyConfig({
      eventKeyJmesPath: "id",
      ...(settings.comparesPayloads !== false && { payloadValidationJmesPath: "cents" }),
      throwOnNoIdempotencyKey: !settings.runsWithoutKey,
      expiresAfterSeconds: settings.expiresAfterSeconds ?? 3600,
    }),
  });
  return {
    name: "Powertools",
    errors: {
      inProgress: "IdempotencyAlreadyInProgressError",
      mismatch: "IdempotencyValidationError",
      keyMissing: "IdempotencyPersistenceLayerError",
    },
    wrap: (handler, settings) => makeIdempotent(handler, optionsOf(settings)) as Handler,
    use: (handler, settings, before = () => {}) =>
      middy()
        .before(before)
        .use(makeHandlerIdempotent(optionsOf(settings)))
        .handler(handler as never) as Handler,
    items,
    client,
  };
}

export async function onceonly(): Promise<Package> {
  const { client, table, items } = newDatabase();
  const [plain, sorted] = [await table("pk"), await table("pk", "sort")];
  const optionsOf = ({ name, expiresAfterSeconds, hasSortKey, ...settings }: Settings = {}) => ({
    operation: name ?? "charge",
    store: new DynamoDBStore({
      tableName: hasSortKey ? sorted : plain,
      client,
      ...(hasSortKey && { sortKey: { name: "sort", value: "idempotency" } }),
    }),
    key: ({ id }: Order) => id,
    ...(settings.comparesPayloads !== false && { fingerprint: ({ cents }: Order) => cents }),
    whenKeyMissing: settings.runsWithoutKey ? ("run" as const) : ("reject" as const),
    retentionSeconds: expiresAfterSeconds ?? 3600,
  });
  return {
    name: "onceonly",
    errors: {
      inProgress: "ExecutionInProgressError",
      mismatch: "FingerprintMismatchError",
      keyMissing: "IdempotencyKeyMissingError",
    },
    wrap: (handler, settings) => idempotent(handler as never, optionsOf(settings)) as unknown as Handler,
    use: (handler, settings, before = () => {}) => {
      const middleware = idempotency(optionsOf(settings)) as unknown as MiddlewareObj;
      return middy()
        .before(before)
        .use(middleware)
        .handler(handler as never) as Handler;
    },
    items,
    client,
  };
}

/** The context of an invocation, which has 30 seconds unless a test says otherwise. */
export function newContext(remainingMs = 30_000): Context {
  return fakeLambdaContext({ clock: { now: Date.now }, remainingMs }) as Context;
}

/** The name of the error that a call ends with; fails where it does not. */
export function errorOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    (result) => `no error, but ${JSON.stringify(result)}`,
    (error: unknown) => (error instanceof Error ? error.name : `a thrown ${typeof error}`),
  );
}
