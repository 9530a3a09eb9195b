// The public names. A change here is a change of the API: mean it, document it, and write it into the list.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exportedNames } from "./exported-names.ts";
import { manifest, root } from "./project.ts";

const api: Readonly<Record<string, readonly string[]>> = {
  onceonly: [
    "BatchHandler",
    "BatchOptions",
    "BatchResponse",
    "ChildKeyLimits",
    "Claim",
    "ClaimAnswer",
    "ClaimLostError",
    "Clock",
    "CommitInvalidError",
    "DECISIONS",
    "Decision",
    "DecisionEvent",
    "DynamoDBClientLike",
    "DynamoDBStore",
    "DynamoDBStoreOptions",
    "DynamoDBWrite",
    "ENVELOPE_FAULTS",
    "EngineOptions",
    "Envelope",
    "EnvelopeFault",
    "EnvelopeReading",
    "EventReader",
    "Execution",
    "ExecutionInProgressError",
    "FaceOptions",
    "FifoMessage",
    "FifoProducer",
    "FifoProducerOptions",
    "FifoResend",
    "FingerprintMismatchError",
    "Fingerprinter",
    "Handler",
    "HttpIdempotencyOptions",
    "HttpRequestEvent",
    "IdempotencyKeyInvalidError",
    "IdempotencyKeyMissingError",
    "IdempotencyMiddleware",
    "IdempotencyOptions",
    "IdempotencyRecord",
    "Insertion",
    "InvalidOptionError",
    "ItemIdentifier",
    "KafkaIdentifier",
    "LambdaContext",
    "MessageIdInvalidError",
    "NestedExecutionError",
    "Observe",
    "OnceonlyError",
    "OutcomeUnknownError",
    "PayloadInvalidError",
    "PermanentError",
    "Random",
    "RecordCorruptError",
    "RecordHandler",
    "ResponseNotStorableError",
    "ResultNotKeptError",
    "RunOnceOptions",
    "S3KeyEvent",
    "SQSClientLike",
    "STORE_FAILURES",
    "ScopeMissingError",
    "SendFailedError",
    "SendResult",
    "SentMessage",
    "SettleAnswer",
    "Settlement",
    "SnsKeyEvent",
    "State",
    "Store",
    "StoreFailure",
    "StoreUnavailableError",
    "StoredResult",
    "TransactionConditionError",
    "VisibilityRequest",
    "WithIdempotency",
    "callerFromAuthorizer",
    "callerFromJwt",
    "httpIdempotency",
    "httpIdempotent",
    "idempotency",
    "idempotent",
    "idempotentBatch",
    "isOnceonlyError",
    "keyFromEventBridge",
    "keyFromS3",
    "keyFromSns",
    "readEnvelope",
    "runOnce",
  ],
  "onceonly/cdk": ["IdempotencyTable", "IdempotencyTableProps", "UseIdempotency"],
  "onceonly/client": [
    "IdempotentFetch",
    "IdempotentFetchDeadlineError",
    "IdempotentFetchError",
    "IdempotentFetchErrorCode",
    "IdempotentFetchInit",
    "IdempotentFetchOptions",
    "InvalidOptionError",
    "createIdempotencyKey",
    "createIdempotentFetch",
    "idempotentFetch",
    "wasReplayed",
  ],
  "onceonly/testing": [
    "ContractCase",
    "FakeClock",
    "FakeLambdaContext",
    "FakeLambdaContextOptions",
    "Item",
    "MemoryStore",
    "MemoryStoreOptions",
    "MemoryWrite",
    "StoreSubject",
    "fakeClock",
    "fakeLambdaContext",
    "fakeRandom",
    "storeContract",
  ],
};

describe.each(Object.entries(api))("%s", (entry, names) => {
  const file = `lib${entry.slice("onceonly".length)}/index.ts`;

  it("exports these names and no other", () => {
    expect(exportedNames(join(root, file))).toEqual(names);
  });

  it("exports values under these names only", async () => {
    const values = Object.keys(await import(join(root, file)));

    expect(values.length).toBeGreaterThan(0);
    expect(names).toEqual(expect.arrayContaining(values));
  });
});

describe("package.json", () => {
  it("has these entries and itself", () => {
    const entries = Object.keys(manifest.exports).map((path) => path.replace(".", "onceonly"));

    expect(entries).toEqual([...Object.keys(api), "onceonly/package.json"]);
  });
});
