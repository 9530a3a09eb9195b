// How each export meets another copy of the package. A new export needs its place here: the test says so.
import { BASES, DOORS, FRONTS } from "./doors.ts";

/** Used across copies by the tests of this folder. */
const DRIVEN = [
  ...Object.keys(BASES),
  ...Object.keys(FRONTS),
  ...Object.keys(DOORS),
  ...["consumers.envelopeHeaders", "http.executionOf", "http.keepBody"],
  ...["main.PermanentError", "main.OutcomeUnknownError", "main.CommitInvalidError", "main.isOnceonlyError"],
  ...["fingerprintFromHttp", "fingerprintFromJson", "fingerprintFromSns", "fingerprintFromS3"].map(
    (name) => `main.${name}`,
  ),
  ...["fingerprintFromEventBridge", "S3Bodies", "openedOutbox", "outboxSweeper", "resolveOutcome"].map(
    (name) => `main.${name}`,
  ),
  ...["reconciler", "leftBehind", "emfMetrics", "decisionLog"].map((name) => `main.${name}`),
  ...["DynamoDBModel", "DynamoDBError", "SqsError", "SnsError", "EventBridgeError"].map(
    (name) => `aws.${name}`,
  ),
  ...["explore", "foreignRequest", "reportPage", "exactlyOnceMatchers"].map((name) => `explorer.${name}`),
  ...["fakeLambdaContext", "MemoryStore", "storeContract"].map((name) => `testing.${name}`),
  ...["fromPg", "PostgresStore", "PostgresTransactions"].map((name) => `postgres.${name}`),
  ...["fromIoredis", "ValkeyStore", "valkeyCache"].map((name) => `valkey.${name}`),
];

/** Lists and texts, and functions of data: nothing of a copy is in them. */
const DATA =
  /^main\.(DECISIONS|ENVELOPE_FAULTS|OUTBOX_EVENTS|RECONCILER_EVENTS|STORE_FAILURES|readEnvelope|readBody|traceparentFromXRay)$|^postgres\.postgresSchema$|^explorer\.(canHave|crashPoints|streamEvent)$|^kit\.([A-Z_]+|[a-z]\w+)$|^aws\.[a-z]\w+$|^client\.(createIdempotencyKey|wasReplayed)$/;

/** Functions of an event or of an attempt, which any engine calls, and observers. */
const FUNCTIONS =
  /^main\.(keyFrom\w+|callerFrom\w+|durableExecutionStarted|dynamoItemExists|executionStarted|httpLookup|s3ObjectExists|kmsKeys|eraseResult)$|^otel\.openTelemetry$|^client\.(createIdempotentFetch|idempotentFetch)$/;

/** What the store port, the outbox port and a client's port say is all that is used of them. */
const PORTS =
  /^main\.(DynamoDBOutbox|MessageProducer|FifoProducer|outboxRelay)$|^lean\.(DynamoDBOutbox|DynamoDBStore|LeanDynamoDB)$|^postgres\.(PostgresOutbox|from(Drizzle|Knex|Kysely|PostgresJs|Prisma))$|^valkey\.from(Glide|NodeRedis)$|^aws\.(SqsModel|SnsModel|EventBridgeModel)$|^testing\.(fakeClock|fakeRandom)$|^kit\.OperatedOutbox$/;

/** Known by their code: `isOnceonlyError`, or the brand of the browser's client. */
const ERRORS = /^(main|client|kit)\.\w+Error$/;

/** More of a door that is driven. */
const SIBLINGS = /^consumers\.(kafkaEachBatch|natsConsumer|rabbitMqConsumer)$|^http\.nestIdempotency$/;

/** Of one simulation: handlers and services reach it by patches that all copies share (packages/explorer/test/simulator). */
const SIMULATION = /^explorer\.(Simulator|randomFaults|removePatches|whenEnvironmentEnds)$/;

/** Constructs: test/cdk/two-copies.test.ts. */
const CONSTRUCTS = /^cdk(Rules)?\./;

/** What is known of an export; `undefined` for none. */
export function meetingOf(name: string): string | undefined {
  if (DRIVEN.includes(name)) return "driven";
  const kinds = { DATA, FUNCTIONS, PORTS, ERRORS, SIBLINGS, SIMULATION, CONSTRUCTS };
  return Object.entries(kinds)
    .find(([, names]) => names.test(name))?.[0]
    .toLowerCase();
}
export const driven: readonly string[] = DRIVEN;
