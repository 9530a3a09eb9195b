/** The options that `idempotentBatch` adds to the engine's, and their checks. */
import { aFunction, type Check, methods, oneOf } from "../../core/option-checks.ts";
import { ENGINE_CHECKS, type EngineOptions } from "../../core/options.ts";
import type { Verify } from "../../core/verify.ts";
import { type EventReader, WRAPPER_CHECKS } from "../options.ts";
import { FORWARDERS_CHECK } from "./forwarders.ts";
import type { ClaimCheckReader } from "./opened-record.ts";

/** The input of `ChangeMessageVisibilityBatch` of `@aws-sdk/client-sqs`, for up to ten messages of one queue. */
export interface VisibilityRequest {
  QueueUrl: string;
  Entries: { Id: string; ReceiptHandle: string; VisibilityTimeout: number }[];
}

export interface BatchOptions<Entry = unknown, Write = unknown>
  extends Omit<EngineOptions<Write>, "fingerprint" | "whenAbandoned"> {
  /**
   * The stable name of the operation, including the consumer, such as `charge-payment`. If two consumers should both
   * handle a message, give them different names. 1 to 64 characters.
   */
  readonly operation: string;
  /**
   * How long a finished record is honoured, in seconds. It must be longer than a message can keep coming back. The
   * default covers three days in an outbox, 14 in a queue, 14 in its dead-letter queue, and a redrive.
   * @default 3024000 (35 days)
   */
  readonly retentionSeconds?: number;
  /**
   * What to do with a record whose envelope says that it was committed longer ago than `retentionSeconds`, if its key is
   * unknown: it may have been handled before. `"reject"` returns it (`IDEMPOTENCY_KEY_INVALID`), so it becomes a dead
   * letter.
   * @default "reject" for such a record; otherwise "run", as for every operation
   */
  readonly whenKeyExpired?: "run" | "reject";
  /**
   * Reads the idempotency key from what the producer wrote. Envelopes are then ignored. If `key` returns nothing, the
   * record is returned and reported as `key-missing`, because under another key it might run again.
   *
   * Without `key`, the envelope's key counts, and without an envelope the source's id: the deduplication id or message id
   * in SQS (neither survives a redrive), the `eventID` of a stream, the offset in Kafka, the event's id on a custom event bus,
   * or the message id in Amazon MQ (a RabbitMQ message without one is returned). With `keyFromS3()`, each S3 record in a message
   * is an execution of its own. If a second send would get a different id, the record is reported as `key-fallback`. A record
   * whose envelope can't be read is also returned.
   * @default - the envelope's key, or else the source's id for the record
   */
  readonly key?: EventReader<Entry>;
  /**
   * The services that forward messages to this consumer inside their own body, so the envelope is inside it. List ARNs of
   * SNS topics (without raw delivery), names or ARNs of EventBridge buses, ARNs of pipes, and of Kinesis streams whose
   * records `kinesisRecord` makes. **You promise that only these can write to the source, and only you can write to
   * these.** This isn't a proof: a topic's ARN is compared with the body, but for the others nothing is compared. Without this option, a body with an envelope in it is
   * returned, unless there is a `key`.
   * @default - none
   */
  readonly trustedForwarders?: readonly (string | undefined)[];
  /**
   * The verified owner of the key, such as a tenant: 1 to 256 characters. A record without one is returned. Leave the
   * option out if keys have no owner; an explicit `undefined` is refused.
   * @default "public"
   */
  readonly scope?: EventReader<Entry> | "public";
  /**
   * Returns the part of the record that decides whether two records carry the same request. Pass a list while a change
   * rolls out: the first one's result is stored, and a match with any counts.
   * @default - that of `keyFromS3()`; otherwise the raw body of a message, the data of a Kinesis or Amazon MQ record, the
   * change of an item, the value in Kafka, or a bus event without its id and time. For a forwarded message (`trustedForwarders`):
   * without its envelope and without what differs each time it is forwarded
   */
  readonly fingerprint?: ((record: Entry) => unknown) | readonly ((record: Entry) => unknown)[];
  /**
   * What to do with a record that another attempt is working on. `reject` returns it. `{ waitSeconds }` waits that long,
   * but no longer than the batch starts records.
   * @default - "reject" for SQS messages; others can't be hidden, so they wait as long as there is time
   */
  readonly whenInProgress?: NonNullable<EngineOptions["whenInProgress"]>;
  /**
   * What to do when an earlier attempt died and its outcome is unknown: `"run"` again, `"hold"` (return the record until
   * an operator resolves it), or ask a function, whose `input` is the record: docs/guides/payment-providers.md.
   * @default "run"
   */
  readonly whenAbandoned?: "run" | "hold" | Verify<Entry>;
  /**
   * How many records run at the same time: messages of a standard queue, groups of a FIFO queue, or Kafka partitions.
   * Within a group, shard or partition, records always run one by one. Lower it if the handlers need much memory, a
   * service with a rate limit, or connections from a small pool. An AWS SDK client has 50 connections: further requests wait.
   * @default 100; 10 with a PostgreSQL store, because a `pg` pool has 10 connections by default
   */
  readonly concurrency?: number;
  /**
   * Whether records that run at the same time share DynamoDB requests. Claims share one request, and commits share a
   * transaction if no two write the same item. Completions of handlers that end at the same moment share a request too.
   * Each record has its own outcome: if one is refused, the others are still tried. With `"completions"`, completions
   * also wait for each other, for the time of one request and at most 20 ms. That saves requests. But if the process is
   * killed in that moment, more records run again whose handlers made their own writes. Groups require
   * `dynamodb:PartiQLInsert`, `dynamodb:PartiQLUpdate` and `dynamodb:BatchGetItem`. Without these permissions each record
   * sends its own requests, and `group-refused` is reported once. With other stores, records never share requests.
   * @default true
   */
  readonly groupRequests?: boolean | "completions";
  /**
   * Starts no more records when less than this is left of the invocation, in ms. When a tenth of the margin is left (at
   * most half a second), the batch returns the records that aren't done. Those still running may be repeated.
   * @default - a fifth of the time left at the start, at most 2000
   */
  readonly deadlineMarginMs?: number;
  /**
   * Whether the event source mapping has `ReportBatchItemFailures`, so that Lambda reads which records failed. With
   * `false`, a batch with a failed record throws: Lambda delivers the whole batch again, and the records that are done
   * are skipped. Kafka has the setting in provisioned mode only. Set `true` once the mapping has it, so that finished
   * partitions and records don't come again. A mapping without it treats any response as success, and the failed records
   * would be lost. Pipes always read the response, except for Kafka, for which the batch always throws, as it does for custom
   * event buses. Amazon MQ doesn't have the setting, so it's ignored there.
   * @default - `true` for SQS, Kinesis and DynamoDB streams, whose mappings can always have the setting, otherwise `false`
   */
  readonly reportBatchItemFailures?: boolean;
  /**
   * What to do with a record whose error is final and recorded. `return` lets it go to the dead-letter queue; until then,
   * each delivery replays the error without running, and the rest of its FIFO group, shard or partition is blocked.
   * `acknowledge` ends the record here.
   * @default "return"
   */
  readonly whenFinalError?: "acknowledge" | "return";
  /**
   * Hides messages that another invocation is working on until its lease ends, so that they don't use up their receives.
   * Pass `(request) => sqs.changeMessageVisibilityBatch(request)`, with `SQS` from `@aws-sdk/client-sqs` and the
   * permission `sqs:ChangeMessageVisibility`. `QueueUrl` is built from the queue's ARN.
   * @default - they come back after the queue's visibility timeout
   */
  readonly changeVisibility?: (request: VisibilityRequest) => Promise<unknown>;
  /**
   * Loads message bodies that are stored in a bucket: pass an `S3ClaimCheck`. The handler gets the record with its body.
   * `key`, `scope` and `fingerprint` see the claim check, which is the same for the same body. If a message is done
   * already, its body isn't read.
   * @default - a message whose body is in a bucket is returned without running
   */
  readonly claimCheck?: ClaimCheckReader;
  /**
   * Called with each error of a record or of `changeVisibility`, because none of them reaches Lambda. A record in
   * progress elsewhere isn't an error. Errors thrown by this function are ignored.
   * @default - `console.error` with the record's id (message id, sequence number, or offset) and the error
   */
  readonly onRecordError?: (error: unknown, record: Entry) => void;
}

export const BATCH_CHECKS: Readonly<Record<keyof BatchOptions, Check>> = {
  ...ENGINE_CHECKS,
  key: aFunction,
  trustedForwarders: FORWARDERS_CHECK,
  scope: WRAPPER_CHECKS.scope,
  concurrency: [
    "must be a whole number between 1 and 1000",
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000,
  ],
  groupRequests: oneOf(true, false, "completions"),
  deadlineMarginMs: [
    "must be a number of milliseconds between 0 and 300000",
    (value) => typeof value === "number" && value >= 0 && value <= 300_000,
  ],
  reportBatchItemFailures: oneOf(true, false),
  whenFinalError: oneOf("acknowledge", "return"),
  changeVisibility: aFunction,
  claimCheck: methods("open"),
  onRecordError: aFunction,
};
