/** The table that a command works on, its client, and what its writes would be. */

import type { DynamoDBClient, DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import type { S3 } from "@aws-sdk/client-s3";
import { type ByWhom, type DynamoDBOutboxOptions, MAX_TEXT_LENGTH, type Store } from "onceonly/kit";
import {
  type CommandCall,
  type OptionsConfig,
  type OptionValues,
  printLines,
  required,
  UsageError,
} from "./command.ts";
import { checkInstalled } from "./installed.ts";
import type { OpenTable } from "./open-table.ts";
import { openStore } from "./store-module.ts";

export const TABLE_OPTIONS = {
  table: { type: "string", short: "t" },
  store: { type: "string" },
  region: { type: "string" },
  profile: { type: "string" },
  endpoint: { type: "string" },
  "partition-key": { type: "string" },
  "sort-key": { type: "string" },
  "ttl-attribute": { type: "string" },
  index: { type: "string" },
  shards: { type: "string" },
  bucket: { type: "string" },
  "bucket-prefix": { type: "string" },
  json: { type: "boolean" },
} as const satisfies OptionsConfig;

export const TABLE_USAGE = `
  --table, -t <name or ARN>   the table of the records (required, unless --store is set)
  --store <module>            module of another store: export default { store, outbox, close }
  --region, --profile         as for the AWS CLI (default: from the environment)
  --endpoint <url>            another DynamoDB endpoint, such as the one of \`onceonly start\`
  --partition-key, --sort-key <name=value>, --ttl-attribute, --index, --shards
                              if the store doesn't use the defaults
  --bucket, --bucket-prefix   the bucket of large results, if handlers use \`offloaded\`
  --json                      print JSON`;

/** What a command that writes takes too. */
export const WRITE_OPTIONS = {
  ...TABLE_OPTIONS,
  "dry-run": { type: "boolean" },
  yes: { type: "boolean", short: "y" },
} as const satisfies OptionsConfig;

export const WRITE_USAGE = `${TABLE_USAGE}
  --dry-run                   only read, and print the writes it would make
  --yes, -y                   don't ask for confirmation`;

/** Options of commands that record who decided, and why. */
export const BY_OPTIONS = {
  by: { type: "string" },
  why: { type: "string" },
} as const satisfies OptionsConfig;

export const BY_USAGE = `
  --by <name>, --why <text>   stored with the record (required); don't include payloads or secrets`;

/** @throws UsageError */
export function byWhom(values: OptionValues): ByWhom {
  return { by: shortText(values, "by"), why: shortText(values, "why") };
}

/** A record keeps no more, and a group is announced before it is read. */
function shortText(values: OptionValues, name: keyof ByWhom): string {
  const text = required(values, name);
  if (text.length <= MAX_TEXT_LENGTH) return text;
  throw new UsageError(`--${name} must be at most ${MAX_TEXT_LENGTH} characters (got ${text.length})`);
}

export type CommonConfig = Pick<
  DynamoDBClientConfig,
  "region" | "endpoint" | "profile" | "credentials" | "requestHandler"
>;

/**
 * Loads the client of DynamoDB, which a project may lack: `--help` needs none.
 * @throws UsageError, InvalidOptionError; Error where the client is not installed
 */
export async function openTable(values: OptionValues): Promise<OpenTable> {
  if (values.store !== undefined) return openStore(`${values.store}`, values);
  const tableName = required(values, "table");
  const config = clientConfig(values);
  checkInstalled("@aws-sdk/client-dynamodb");
  const [{ DynamoDBClient: Client }, { DynamoDBOutbox: Outbox, DynamoDBStore: Store }] = await Promise.all([
    import("@aws-sdk/client-dynamodb"),
    import("onceonly/dynamodb"),
  ]);
  const client = new Client(config);
  const withheld: { operation: string; input: unknown }[] = [];
  if (values["dry-run"]) withholdWrites(client, withheld);
  const bucket = await openBucket(values, config);
  if (bucket && values["dry-run"]) withholdWrites(bucket as unknown as DynamoDBClient, withheld);
  const options: DynamoDBOutboxOptions = {
    tableName,
    client,
    ...textOption("partitionKey", values["partition-key"]),
    ...textOption("ttlAttribute", values["ttl-attribute"]),
    ...textOption("indexName", values.index),
    ...(values["sort-key"] !== undefined && { sortKey: sortKeyOf(`${values["sort-key"]}`) }),
    ...(values.shards !== undefined && { shards: Number(values.shards) }),
  };
  const { indexName: _, shards: __, ...storeOptions } = options;
  const records = new Store(storeOptions);
  const outbox = new Outbox(options);
  await checkRegion(client);
  return {
    store: bucket ? await inBucket(records, values, bucket) : records,
    records,
    outbox,
    storeOptions,
    withheld,
    close() {
      client.destroy();
      bucket?.destroy();
    },
  };
}

/** Without a Region the SDK refuses each request before it's sent. @throws UsageError */
async function checkRegion({ config }: DynamoDBClient): Promise<void> {
  const region = await config.region().catch(() => undefined);
  if (region === undefined)
    throw new UsageError("no AWS Region is set: pass --region, or set AWS_REGION or a profile that has one");
}

/** The client of the bucket for large results. The endpoint of a table isn't the bucket's. */
async function openBucket({ bucket, "bucket-prefix": prefix }: OptionValues, config: CommonConfig) {
  if (bucket === undefined && prefix !== undefined) throw new UsageError("--bucket-prefix needs --bucket");
  if (bucket === undefined) return undefined;
  checkInstalled("@aws-sdk/client-s3");
  const { S3: Client } = await import("@aws-sdk/client-s3");
  const { endpoint: _, ...own } = config;
  // As local engines need it.
  return new Client({ ...own, forcePathStyle: true, followRegionRedirects: true });
}

async function inBucket(
  store: Store<never>,
  { bucket, "bucket-prefix": prefix }: OptionValues,
  client: S3,
): Promise<Store<never>> {
  const { offloaded } = await import("onceonly/stores");
  return offloaded(store, { bucket: `${bucket}`, client, ...textOption("prefix", prefix) });
}

/** What a client takes of the options: those of every client are the same. @throws UsageError */
export function clientConfig(values: OptionValues): CommonConfig {
  const { region, profile } = values;
  const endpoint = endpointIn(values);
  return {
    // The SDK's client waits for ever unless it's given timeouts, and so would the person.
    requestHandler: { connectionTimeout: 5000, requestTimeout: 30_000, throwOnRequestTimeout: true },
    ...(LOOPBACK.test(`${endpoint}`) && localEngine(profile)),
    ...(typeof region === "string" && { region }),
    ...(endpoint !== undefined && { endpoint }),
    ...(typeof profile === "string" && { profile }),
  };
}

/** @throws UsageError for one that no request can be sent to, such as `localhost:8000` */
export function endpointIn({ endpoint }: OptionValues): string | undefined {
  if (endpoint === undefined) return undefined;
  if (/^https?:\/\//.test(`${endpoint}`) && URL.canParse(`${endpoint}`)) return `${endpoint}`;
  throw new UsageError(`--endpoint must be a URL, such as http://localhost:8000 (got ${endpoint})`);
}

const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/;

export const LOCAL_CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" };

/** Local engines ask for neither account nor Region, and the SDK does. */
const localEngine = (profile: OptionValues[string]): CommonConfig => ({
  region: "us-east-1",
  ...(profile === undefined && { credentials: LOCAL_CREDENTIALS }),
});

const textOption = (name: string, value: OptionValues[string]) =>
  value === undefined ? {} : { [name]: `${value}` };

function sortKeyOf(text: string): { name: string; value: string } {
  const equals = text.indexOf("=");
  if (equals < 1) throw new UsageError("--sort-key must be name=value");
  return { name: text.slice(0, equals), value: text.slice(equals + 1) };
}

const READS = /^(GetItem|Query|BatchGetItem|Scan|DescribeTable|GetObject|ListObjectVersions)Command$/;

/** Answers each write as if it had been applied. A store calls a client with middleware through its `send`. */
function withholdWrites(client: DynamoDBClient, withheld: { operation: string; input: unknown }[]): void {
  client.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (args) => {
        if (READS.test(commandName)) return next(args);
        withheld.push({ operation: commandName.replace(/Command$/, ""), input: args.input });
        return { output: { $metadata: {} }, response: {} };
      },
    { step: "initialize", name: "withholdWrites" },
  );
}

/** What a change has done, for people and as JSON. */
export interface Changed {
  readonly done: boolean;
  readonly message: string;
  /** What is left to do, on a line of its own. */
  readonly next?: string | undefined;
  readonly json: object;
}

/**
 * Runs a command that writes: asks first, unless `--yes` is set, and prints what a dry run withheld.
 * @param preview what the person should know before answering
 * @throws UsageError without a terminal to ask in
 */
export async function changing(
  { values, terminal }: Pick<CommandCall, "values" | "terminal">,
  question: string,
  change: (table: OpenTable) => Promise<Changed>,
  preview?: (table: OpenTable, now: number) => Promise<readonly string[]>,
): Promise<0 | 1> {
  const table = await openTable(values);
  try {
    if (preview && !values.yes && !values["dry-run"] && !values.json)
      for (const line of await preview(table, terminal.clock.now())) terminal.print(line);
    if (!(await isMeant({ values, terminal }, question))) return 1;
    const { done, message, next, json } = await change(table);
    if (values["dry-run"]) printWithheld({ values, terminal }, table.withheld, message);
    else if (values.json) terminal.print(JSON.stringify(json));
    else for (const line of [message, ...(next ? [next] : [])]) terminal.print(line);
    return done ? 0 : 1;
  } finally {
    table.close();
  }
}

/** Asks, unless `--yes` or `--dry-run` is set. @throws UsageError without a terminal to ask in */
export async function isMeant(
  { values, terminal }: Pick<CommandCall, "values" | "terminal">,
  question: string,
): Promise<boolean> {
  if (values["dry-run"] || values.yes) return true;
  const answer = await terminal.confirm(question);
  if (answer === undefined)
    throw new UsageError(
      "not a terminal, so I can't ask for confirmation: pass --yes, or --dry-run to preview",
    );
  if (!answer) terminal.print("nothing was changed");
  return answer;
}

/** Prints the requests that a dry run did not make; `message` if there are none. */
export function printWithheld(
  { values, terminal }: Pick<CommandCall, "values" | "terminal">,
  requests: OpenTable["withheld"],
  message: string,
): void {
  if (values.json) {
    terminal.print(JSON.stringify({ dryRun: true, requests }, withoutBytes));
    return;
  }
  for (const { operation, input } of requests)
    printLines(terminal, `${operation} ${JSON.stringify(input, withoutBytes, 2)}`);
  terminal.print(requests.length > 0 ? "dry run: nothing was written" : message);
}

/** Compressed text is shown by its size, and so is an object for a bucket. */
const withoutBytes = (name: string, value: unknown): unknown =>
  value instanceof Uint8Array || (name === "Body" && typeof value === "string")
    ? `<${Buffer.byteLength(value)} bytes>`
    : value;
