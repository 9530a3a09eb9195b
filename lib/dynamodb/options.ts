/** What a store and an outbox are made of: the table, how its keys are called, and the client that reaches it. */
import { ATTRIBUTES, NO_OUTBOX, OUTBOX_SHARDS } from "../contract.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { type Check, checkOptions, isNamed, methods, text } from "../core/option-checks.ts";

/**
 * A `DynamoDBClient` or a `DynamoDBDocumentClient` of the SDK, from version 3.705.0. Install one version for your code and
 * `onceonly`: a client that is too old for the commands of a newer copy is refused.
 */
export interface DynamoDBClientLike {
  readonly config: object;
  send(...args: never[]): unknown;
}

export interface ClientOptions {
  /**
   * Gets every request through its `send`: its timeouts, retries, middleware and tracers apply.
   * Give it timeouts, because the SDK's default is none. A request without an answer fails after 10 seconds anyway.
   * @default - a client that gives up connecting after 1 second and a request after 3 seconds
   */
  readonly client?: DynamoDBClientLike;
}

export interface TableOptions {
  /** Name or ARN of the table. `undefined`, as from an environment variable that is not set, is refused. */
  readonly tableName: string | undefined;
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

export interface StoreOptions extends TableOptions {
  /**
   * Whether the table has what sends the messages of commits: its stream with a relay, and the index of the sweeper.
   * `outbox: true` of `IdempotencyTable` and an `OutboxRelay` make both. With `false` a commit with messages is refused, before any
   * write, since nobody would send them. `shards` is how many ways commits that wait are divided in the index, 1 to 1000, 8
   * unless given: raise it in the sweeper first. As text: `none`, or the number of shards. `UseIdempotency` puts that into the
   * environment, from what it knows of the table: give `process.env.IDEMPOTENCY_OUTBOX`.
   * @default true
   */
  readonly outbox?: boolean | { readonly shards: number } | string | undefined;
}

export interface OutboxTableOptions extends TableOptions {
  /**
   * Name of the sparse index by which the sweeper finds what the stream lost.
   * @default "outbox"
   */
  readonly indexName?: string;
  /**
   * Into how many shards commits that wait are divided, 1 to 1000: as many as any store of the table has had. It can be
   * raised at any time, here first and then in the stores.
   * @default 8
   */
  readonly shards?: number;
}

export interface DynamoDBStoreOptions extends StoreOptions, ClientOptions {}

export interface DynamoDBOutboxOptions extends OutboxTableOptions, ClientOptions {}

const [, isName] = text(255);
const [, isText] = text(1024);

const isFree = (name: unknown) => isName(name) && !(Object.values(ATTRIBUTES) as unknown[]).includes(name);

const FREE = "a name that records use for nothing else";

const nameCheck = (own: string): Check => [`must be ${FREE}`, (value) => value === own || isFree(value)];

const [shardsRule, isShards]: Check = [
  "must be a whole number of shards from 1 to 1000",
  (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000,
];

const TABLE_CHECKS: Readonly<Record<keyof TableOptions, Check>> = {
  tableName: [
    "must be the name or ARN of a table: see that the environment variable is set from which it is read",
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
    `${clientRule}; a LeanDynamoDB goes into the DynamoDBStore of "onceonly/lean"`,
    (client) => isClient(client) && (client as { isLean?: unknown }).isLean !== true,
  ],
};

/**
 * `more` are the checks of what reaches the table.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function checkStoreOptions(options: StoreOptions, more: Readonly<Record<string, Check>>): void {
  const outbox: Check = [
    `must be true, false, "${NO_OUTBOX}", or { shards }, which ${shardsRule}, or that number as text`,
    (value) => typeof value === "boolean" || value === NO_OUTBOX || isShards(shardsIn(value)),
  ];
  checkOptions(options, { ...TABLE_CHECKS, outbox, ...more }, ["tableName"]);
  refuseSharedNames(options);
}

/**
 * `more` are the checks of what reaches the table.
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

/** Into how many shards commits with messages are divided; 0 where nobody would send them. */
export function outboxShardsOf(outbox: StoreOptions["outbox"] = true): number {
  if (outbox === false || outbox === NO_OUTBOX) return 0;
  return outbox === true ? OUTBOX_SHARDS : (shardsIn(outbox) as number);
}

/**
 * Two keys under one name would overwrite each other in every request.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
function refuseSharedNames({ partitionKey, sortKey, ttlAttribute }: TableOptions): void {
  const rule = "must have a name of its own: the partition key has this one";
  if (sortKey && sortKey.name === partitionKey) throw new InvalidOptionError("sortKey", rule, sortKey.name);
  if (!ttlAttribute || ![partitionKey, sortKey?.name].includes(ttlAttribute)) return;
  throw new InvalidOptionError(
    "ttlAttribute",
    "must have a name of its own: a key of the table has this one",
    ttlAttribute,
  );
}
