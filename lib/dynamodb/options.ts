/** What a DynamoDBStore is made of: the table, how its keys are called, and the client that reaches it. */
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { ATTRIBUTES } from "../contract.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { type Check, methods, text } from "../core/option-checks.ts";
import { watchServerTime } from "./send.ts";

/** A `DynamoDBClient` or a `DynamoDBDocumentClient`, of any version 3 of the SDK. */
export interface DynamoDBClientLike {
  readonly config: object;
  send(...args: never[]): unknown;
}

export interface DynamoDBTableOptions {
  /** Name or ARN of the table. `undefined`, as from an environment variable that is not set, is refused. */
  readonly tableName: string | undefined;
  /**
   * Shared with the rest of the handler if given; its timeouts and retries then apply.
   * @default - a client that gives up connecting after 1 second and a request after 3 seconds
   */
  readonly client?: DynamoDBClientLike;
  /**
   * Name of the partition key, a string.
   * @default "pk"
   */
  readonly partitionKey?: string;
  /**
   * For tables with a sort key (a string): its name, and the value that every record gets.
   * @default - the table has no sort key
   */
  readonly sortKey?: { readonly name: string; readonly value: string };
  /**
   * The attribute, in epoch seconds, by which DynamoDB's TTL deletes.
   * @default "expiresAt"
   */
  readonly ttlAttribute?: string;
}

export interface DynamoDBStoreOptions extends DynamoDBTableOptions {
  /**
   * Whether the table has what sends the messages of commits: its stream with a relay, and the index of the sweeper
   * (`outbox: true` of `IdempotencyTable`, and an `OutboxRelay`). With `false` a commit with messages is refused, before any
   * write, since nobody would send them. `shards` is how many ways commits that wait are divided in the index, 1 to 1000, 8
   * unless given: raise it in the sweeper first.
   * @default true
   */
  readonly outbox?: boolean | { readonly shards: number };
}

const [, isName] = text(255);

const isFree = (name: unknown) => isName(name) && !(Object.values(ATTRIBUTES) as unknown[]).includes(name);

const FREE = "a name that records use for nothing else";

const nameCheck = (own: string): Check => [`must be ${FREE}`, (value) => value === own || isFree(value)];

const [shardsRule, isShards]: Check = [
  "must be a whole number of shards from 1 to 1000",
  (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000,
];

export const shardsCheck: Check = [shardsRule, isShards];

export const CHECKS: Readonly<Record<keyof DynamoDBStoreOptions, Check>> = {
  tableName: text(1024),
  client: methods("send"),
  partitionKey: nameCheck(ATTRIBUTES.partitionKey),
  sortKey: [
    `must be { name, value }, with ${FREE}`,
    (value) => {
      const sortKey = { ...(value as DynamoDBStoreOptions["sortKey"]) };
      return isFree(sortKey.name) && isName(sortKey.value);
    },
  ],
  ttlAttribute: nameCheck(ATTRIBUTES.expiresAt),
  outbox: [
    `must be true, false or { shards }, which ${shardsRule}`,
    (value) => typeof value === "boolean" || isShards((value as { shards?: unknown } | null)?.shards),
  ],
};

/**
 * Two keys under one name would overwrite each other in every request.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function refuseSharedNames({ partitionKey, sortKey, ttlAttribute }: DynamoDBStoreOptions): void {
  const rule = "must have a name of its own: the partition key has this one";
  if (sortKey && sortKey.name === partitionKey) throw new InvalidOptionError("sortKey", rule, sortKey.name);
  if (!ttlAttribute || ![partitionKey, sortKey?.name].includes(ttlAttribute)) return;
  throw new InvalidOptionError(
    "ttlAttribute",
    "must have a name of its own: a key of the table has this one",
    ttlAttribute,
  );
}

/** The caller's client, or one of ours; its answers tell the database's time. */
export function clientOf({ client }: DynamoDBTableOptions): DynamoDBClient {
  const used =
    (client as DynamoDBClient | undefined) ??
    new DynamoDBClient({
      // Without the last one a request that is over its time is only warned about.
      requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
      // The middleware of a command is the same each time.
      cacheMiddleware: true,
    });
  watchServerTime(used);
  return used;
}
