/** The rules for a simulation's options, with AWS's limits. A broken rule throws immediately. */
import {
  aFunction,
  type Check,
  checkOptions,
  InvalidOptionError,
  LONGEST_INVOCATION_SECONDS,
  oneOf,
  text,
} from "onceonly/kit";
import type { Quotas } from "./quotas.ts";
import type {
  LambdaOptions,
  QueueConnection,
  SimulatedIndex,
  SimulatedQueue,
  SimulatedTable,
  SimulatorOptions,
  TableConnection,
} from "./simulator-options.ts";

export type OptionRules<Options> = Readonly<Record<keyof Options, Check>>;

const number = (rule: string, holds: (value: number) => boolean): Check => [
  `must be ${rule}`,
  (value) => typeof value === "number" && Number.isFinite(value) && holds(value),
];
export const whole = (min: number, max: number): Check =>
  number(
    `a whole number from ${min} to ${max}`,
    (value) => Number.isInteger(value) && value >= min && value <= max,
  );
const anyNumber = number("a number", () => true);
const notNegative = number("a number of at least 0", (value) => value >= 0);
const positive = number("a number above 0", (value) => value > 0);
export const aBoolean = oneOf(true, false);
export const aPart = number("a fraction from 0 to 0.9", (value) => value >= 0 && value <= 0.9);
const aName = text(2048);
const aSecret: Check = [
  "must be a string or an object",
  (value) => typeof value === "string" || Object(value) === value,
];
const anObject: Check = ["must be an object of strings or bytes by key", (value) => Object(value) === value];
const aBucketName: Check = [
  "must be a bucket name: 3 to 63 lower-case letters, digits, dots and hyphens",
  (value) => typeof value === "string" && /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(value),
];
const most = Number.MAX_SAFE_INTEGER;

const filters: Check = ["must be an array of filter patterns", (value) => Array.isArray(value)];

function isLatency(value: unknown): boolean {
  const [least, longest = least, ...others] = [value].flat() as unknown[];
  const isWhole = (ms: unknown) => whole(0, most)[1](ms);
  return isWhole(least) && isWhole(longest) && Number(least) <= Number(longest) && others.length === 0;
}

const aKey: Check = [
  'must be an attribute name, or { name, type: "S" | "N" | "B" }',
  (value) => {
    const { name, type } = Object(typeof value === "string" ? { name: value, type: "S" } : value);
    return typeof name === "string" && name !== "" && ["S", "N", "B"].includes(type);
  },
];

const SIMULATOR: OptionRules<SimulatorOptions> = {
  seed: anyNumber,
  startAt: whole(0, most),
  ttlLagSeconds: notNegative,
  latencyMs: [
    "must be an object of whole milliseconds by service or target name: a number, or [min, max]",
    (value) => Object(value) === value && Object.values(Object(value)).every(isLatency),
  ],
  quotas: ["must be an object of quotas by name", (value) => Object(value) === value],
  maxDays: positive,
};

const QUOTAS: OptionRules<Quotas> = {
  inFlight: whole(1, most),
  fifoScanned: whole(1, most),
  fifoCallsPerSecond: whole(1, most),
};

const INDEX: OptionRules<SimulatedIndex> = {
  partitionKey: aKey,
  sortKey: aKey,
  projection: [
    'must be "ALL", "KEYS_ONLY" or an array of attributes',
    (value) => value === "ALL" || value === "KEYS_ONLY" || Array.isArray(value),
  ],
};

const TABLE: OptionRules<SimulatedTable> = {
  partitionKey: aKey,
  sortKey: aKey,
  ttl: text(255),
  stream: oneOf(true, false, "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"),
  indexes: ["must be an object of indexes by name", (value) => Object(value) === value],
};

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html */
const QUEUE: OptionRules<SimulatedQueue> = {
  fifo: aBoolean,
  visibilitySeconds: whole(0, 43_200),
  deadLetter: [
    "must be { queue, maxReceives }, with a name or URL and 1 to 1000 receives",
    (value) => aName[1](Object(value).queue) && whole(1, 1000)[1](Object(value).maxReceives),
  ],
  contentBasedDeduplication: aBoolean,
  perGroup: aBoolean,
  delaySeconds: whole(0, 900),
  retentionSeconds: whole(60, 1_209_600),
  repeats: aPart,
  shuffles: aBoolean,
};

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html */
const LAMBDA: OptionRules<LambdaOptions> = {
  name: text(140),
  timeoutSeconds: number(
    `a number of seconds above 0 and up to ${LONGEST_INVOCATION_SECONDS}`,
    (value) => value > 0 && value <= LONGEST_INVOCATION_SECONDS,
  ),
  skewMs: anyNumber,
  skewsMs: [
    "must be an array of numbers",
    (value) => Array.isArray(value) && value.length > 0 && value.every((each) => anyNumber[1](each)),
  ],
  concurrency: whole(1, most),
};

/** Beyond 10 messages Lambda requires a batching window, which the simulator does not have. */
const QUEUE_CONNECTION: OptionRules<QueueConnection> = {
  queueUrl: aName,
  batchSize: whole(1, 10),
  reportsItemFailures: aBoolean,
  concurrency: whole(1, 1000),
};

/** https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-params.html */
const TABLE_CONNECTION: OptionRules<TableConnection> = {
  tableName: aName,
  batchSize: whole(1, 10_000),
  reportsItemFailures: aBoolean,
  bisect: aBoolean,
  maxRetries: whole(-1, 10_000),
  filters,
};

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html#HowItWorks.NamingRules */
const DYNAMODB_NAME = /^[a-zA-Z0-9_.-]{3,255}$/;

function checkDynamoDBName(what: "table" | "index", name: string): void {
  if (DYNAMODB_NAME.test(name)) return;
  throw new InvalidOptionError(
    `${what} name`,
    `must be 3 to 255 characters long and consist of a-z, A-Z, 0-9, "_", "-" and ".", as DynamoDB requires (got ${JSON.stringify(name)})`,
  );
}

/** Each throws InvalidOptionError (`INVALID_OPTION`), naming option, rule and value. */
export const check = {
  simulator(options: SimulatorOptions) {
    checkOptions(options, SIMULATOR, []);
    checkOptions(options.quotas ?? {}, QUOTAS, []);
  },
  table(name: string, table: SimulatedTable) {
    checkDynamoDBName("table", name);
    checkOptions(table, TABLE, ["partitionKey"]);
    for (const index of Object.keys(table.indexes ?? {})) checkDynamoDBName("index", index);
    for (const index of Object.values(table.indexes ?? {})) checkOptions(index, INDEX, ["partitionKey"]);
  },
  queue: (queue: SimulatedQueue) => checkOptions(queue, QUEUE, []),
  lambda: (handler: unknown, options: LambdaOptions) =>
    checkOptions({ ...options, handler }, { ...LAMBDA, handler: aFunction }, ["handler"]),
  queueConnection: (connection: QueueConnection) => checkOptions(connection, QUEUE_CONNECTION, ["queueUrl"]),
  tableConnection: (connection: TableConnection) => checkOptions(connection, TABLE_CONNECTION, ["tableName"]),
  parameter: (name: string, value: string) =>
    checkOptions({ name, value }, { name: aName, value: text(8192) }, ["name", "value"]),
  secret: (name: string, value: string | object) =>
    checkOptions({ name, value }, { name: aName, value: aSecret }, ["name", "value"]),
  bucket: (name: string, objects: object) =>
    checkOptions({ name, objects }, { name: aBucketName, objects: anObject }, ["name"]),
  everyMs: (ms: number) => checkOptions({ ms }, { ms: number("at least 1 ms", (value) => value >= 1) }, []),
} as const;
