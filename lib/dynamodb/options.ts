/** Options of the store and the outbox: the table, its attribute names, and the client that reaches it. */
import { ATTRIBUTES, NO_OUTBOX, OUTBOX_SHARDS } from "../contract.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { type Check, checkOptions, isNamed, methods, text } from "../core/option-checks.ts";

/**
 * A `DynamoDBClient` or `DynamoDBDocumentClient` of the SDK, version 3.705.0 or later. Install a single SDK version for your
 * code and `onceonly`: a client too old for the commands of a newer copy is refused.
 */
export interface DynamoDBClientLike {
  readonly config: object;
  send(...args: never[]): unknown;
}

export interface ClientOptions {
  /**
   * Sends every request through its `send`, so its timeouts, retries, middleware and tracers apply. Set timeouts on it, because
   * the SDK has none by default. A request without an answer fails after 10 seconds anyway.
   * @default - a client that gives up connecting after 1 second and a request after 3 seconds
   */
  readonly client?: DynamoDBClientLike;
}

export interface TableOptions {
  /** Name or ARN of the table. `undefined`, for example from an unset environment variable, is refused. */
  readonly tableName: string | undefined;
  /**
   * Name of the partition key, which must be a string.
   * @default "pk"
   */
  readonly partitionKey?: string;
  /**
   * For a table with a sort key (a string): its name, and the value that every record gets.
   * @default - the table has no sort key
   */
  readonly sortKey?: { readonly name: string; readonly value: string };
  /**
   * The attribute, in epoch seconds, that DynamoDB's TTL deletes by.
   * @default "expiresAt"
   */
  readonly ttlAttribute?: string;
}

export interface StoreOptions extends TableOptions {
  /**
   * Whether the table can send the messages of a commit: it needs a stream with a relay, and the sweeper's index.
   * `IdempotencyTable` with `outbox: true` and an `OutboxRelay` create both. With `false`, a commit with messages is refused
   * before any write, because they would never be sent. `shards` is the number of shards (1 to 1000, default 8) that waiting
   * commits are spread over in the index: raise it in the sweeper first. As a string: `none`, or the number of shards.
   * `UseIdempotency` sets that string in the environment from what it knows about the table: pass
   * `process.env.IDEMPOTENCY_OUTBOX`.
   * @default true
   */
  readonly outbox?: boolean | { readonly shards: number } | string | undefined;
}

export interface OutboxTableOptions extends TableOptions {
  /**
   * Name of the sparse index in which the sweeper finds what the stream lost.
   * @default "outbox"
   */
  readonly indexName?: string;
  /**
   * Number of shards that waiting commits are spread over, 1 to 1000: at least as many as any store of this table has ever used.
   * You can raise it at any time, here first and then in the stores.
   * @default 8
   */
  readonly shards?: number;
}

export interface DynamoDBStoreOptions extends StoreOptions, ClientOptions {}

export interface DynamoDBOutboxOptions extends OutboxTableOptions, ClientOptions {}

const [, isName] = text(255);
const [, isText] = text(1024);

const isFree = (name: unknown) => isName(name) && !(Object.values(ATTRIBUTES) as unknown[]).includes(name);

const FREE = "a name that records don't use for something else";

const nameCheck = (own: string): Check => [`must be ${FREE}`, (value) => value === own || isFree(value)];

const [shardsRule, isShards]: Check = [
  "must be a whole number of shards between 1 and 1000",
  (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000,
];

const TABLE_CHECKS: Readonly<Record<keyof TableOptions, Check>> = {
  tableName: [
    "must be the name or ARN of a table: check that the environment variable it comes from is set",
    (value) => isText(value) && isNamed(value as string),
  ],
  partitionKey: nameCheck(ATTRIBUTES.partitionKey),
  sortKey: [
    `must be { name, value }, with ${FREE}`,
    (value) => {
      const sortKey = { ...(value as TableOptions["sortKey"]) };
      return isFree(sortKey.name) && isName(sortKey.value);
    },
  ],
  ttlAttribute: nameCheck(ATTRIBUTES.expiresAt),
};

const [clientRule, isClient] = methods("send");

export const CLIENT_CHECKS: Readonly<Record<keyof ClientOptions, Check>> = {
  client: [
    `${clientRule} (a LeanDynamoDB belongs in the DynamoDBStore of "onceonly/lean")`,
    (client) => isClient(client) && (client as { isLean?: unknown }).isLean !== true,
  ],
};

/**
 * `more`: checks of the client or connection options.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function checkStoreOptions(options: StoreOptions, more: Readonly<Record<string, Check>>): void {
  const outbox: Check = [
    `must be true, false, "${NO_OUTBOX}", or { shards }, which ${shardsRule}, or that number as a string`,
    (value) => typeof value === "boolean" || value === NO_OUTBOX || isShards(shardsIn(value)),
  ];
  checkOptions(options, { ...TABLE_CHECKS, outbox, ...more }, ["tableName"]);
  refuseSharedNames(options);
}

/**
 * `more`: checks of the client or connection options.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function checkOutboxOptions(options: OutboxTableOptions, more: Readonly<Record<string, Check>>): void {
  const own = { indexName: text(255), shards: [shardsRule, isShards] as const };
  checkOptions(options, { ...TABLE_CHECKS, ...own, ...more }, ["tableName"]);
  refuseSharedNames(options);
}

function shardsIn(outbox: unknown): unknown {
  if (typeof outbox === "string") return /^\d+$/.test(outbox) ? Number(outbox) : undefined;
  return (outbox as { shards?: unknown } | null)?.shards;
}

/** The number of shards for commits with messages; 0 if nothing would send them. */
export function outboxShardsOf(outbox: StoreOptions["outbox"] = true): number {
  if (outbox === false || outbox === NO_OUTBOX) return 0;
  return outbox === true ? OUTBOX_SHARDS : (shardsIn(outbox) as number);
}

/**
 * Two keys with the same name would overwrite each other in every request.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
function refuseSharedNames({ partitionKey, sortKey, ttlAttribute }: TableOptions): void {
  const rule = "must not have the same name as the partition key";
  if (sortKey && sortKey.name === partitionKey) throw new InvalidOptionError("sortKey", rule, sortKey.name);
  if (!ttlAttribute || ![partitionKey, sortKey?.name].includes(ttlAttribute)) return;
  throw new InvalidOptionError(
    "ttlAttribute",
    "must not have the same name as a key of the table",
    ttlAttribute,
  );
}
