// How each export meets another copy of the package. A new export needs its place here: the test says so.
import { BASES, DOORS, FRONTS } from "./doors.ts";

/** Used across copies by the tests of this folder. */
const DRIVEN = [
  ...Object.keys(BASES),
  ...Object.keys(FRONTS),
  ...Object.keys(DOORS),
  ...["consumers.envelopeHeaders", "http.executionOf", "http.keepBody"],
  ...["main.PermanentError", "main.OutcomeUnknownError", "main.CommitInvalidError", "main.isOnceonlyError"],
  ...[
    "fingerprintFromHttp",
    "fingerprintFromJson",
    "fingerprintFromMultipart",
    "fingerprintFromSns",
    "fingerprintFromS3",
  ].map((name) => `main.${name}`),
  "main.fingerprintFromEventBridge",
  ...[
    "messaging.S3ClaimCheck",
    "messaging.outboxSweeper",
    "stores.decryptingOutbox",
    "stores.unmigratedRecords",
  ],
  ...["reconciler.reconciler", "reconciler.resolveOutcome"],
  ...["keyFromSns", "keyFromEventBridge", "keyFromS3", "callerFromJwt", "callerFromAuthorizer"].map(
    (name) => `main.${name}`,
  ),
  ...["main.emfMetrics", "main.decisionLog", "store-kit.CommitInvalidError"],
  ...["DynamoDBModel", "DynamoDBError", "SqsError", "SnsError", "EventBridgeError"].map(
    (name) => `aws.${name}`,
  ),
  ...["explore", "foreignRequest", "reportPage", "exactlyOnceMatchers"].map((name) => `explorer.${name}`),
  ...["fakeLambdaContext", "MemoryStore", "storeContract"].map((name) => `testing.${name}`),
  ...["fromPg", "PostgresStore", "PostgresTransactions"].map((name) => `postgres.${name}`),
  ...["fromIoredis", "ValkeyStore", "valkeyCache"].map((name) => `valkey.${name}`),
];

/** Lists and texts, and functions from data to data: they neither read nor note an object of a copy. */
const DATA =
  /^main\.read(Body|S3Change)$|^messaging\.(ENVELOPE_FAULTS|OUTBOX_EVENTS|kinesisRecord|readEnvelope|traceparentFromXRay)$|^reconciler\.RECONCILER_EVENTS$|^store-kit\.(DECISIONS|STORE_FAILURES)$|^postgres\.postgresSchema$|^explorer\.(canHave|crashPoints|streamEvent)$|^kit\.([A-Z_]+|[a-z]\w+)$|^aws\.[a-z]\w+$|^client\.(createIdempotencyKey|wasReplayed)$/;

/**
 * Functions that a user passes to an engine, which calls them with plain events, attempts or decisions, and clients of HTTP. No copy
 * asks who made them. Those that note something about themselves, as readers of keys note the time of a commit, are driven.
 */
const FUNCTIONS =
  /^durable\.onceRetry$|^main\.(keyFrom\w+|callerFrom\w+|(acp|ietf|stripe)Profile|graphqlOverHttp)$|^reconciler\.(durableExecutionStarted|dynamoItemExists|executionStarted|httpLookup|s3ObjectExists|eraseResult)$|^stores\.kmsKeys$|^otel\.openTelemetry$|^client\.(createIdempotentFetch|idempotentFetch)$/;

/**
 * Only the methods of a port are called on them (store, outbox, SQL client, AWS client). The doors and fronts drive each port with
 * another implementation, and a database would add no call between copies.
 */
const PORTS =
  /^durable\.startOnce$|^dynamodb\.DynamoDBOutbox$|^messaging\.(MessageProducer|FifoProducer|outboxRelay)$|^lean\.(DynamoDBOutbox|DynamoDBStore|LeanDynamoDB)$|^postgres\.(PostgresOutbox|from(Drizzle|Knex|Kysely|PostgresJs|Prisma))$|^valkey\.from(Glide|NodeRedis)$|^aws\.(SqsModel|SnsModel|EventBridgeModel)$|^testing\.(fakeClock|fakeRandom)$|^kit\.OperatedOutbox$/;

/** Known by their code. `isOnceonlyError` is driven, with errors of each base class; these differ in their code only. */
const ERRORS = /^(main|client|http|kit|messaging|store-kit)\.\w+Error$/;

/** They pass their call to the same inner function as a door that is driven: `kafkaConsumer`, `expressIdempotency` and its kin. */
const SIBLINGS =
  /^durable\.(durableIdempotency|idempotentDurable|onceStep)$|^consumers\.(kafkaEachBatch|natsConsumer|rabbitMqConsumer)$|^http\.nestIdempotency$/;

/** Of one simulation: handlers and services reach it by patches that all copies share (packages/explorer/test/simulator). */
const SIMULATION = /^explorer\.(Simulator|randomFaults|removePatches|whenEnvironmentEnds)$/;

/** Two copies meet in test/durable, where the SDK is. */
const DURABLE = /^durable\.(currentChildKey|durableExecutionPluginProvider|oncePlugin|onceSaga)$/;

/** Constructs: test/cdk/two-copies.test.ts. */
const CONSTRUCTS = /^cdk(Rules)?\./;

/** What is known of an export; `undefined` for none. */
export function meetingOf(name: string): string | undefined {
  if (DRIVEN.includes(name)) return "driven";
  const kinds = { DATA, FUNCTIONS, PORTS, ERRORS, SIBLINGS, SIMULATION, DURABLE, CONSTRUCTS };
  return Object.entries(kinds)
    .find(([, names]) => names.test(name))?.[0]
    .toLowerCase();
}
export const driven: readonly string[] = DRIVEN;
