/** The options of `idempotentBatch` beyond the engine's, and their rules. */
import { aFunction, type Check, methods, oneOf } from "../../core/option-checks.ts";
import { ENGINE_CHECKS, type EngineOptions } from "../../core/options.ts";
import type { Verify } from "../../core/verify.ts";
import { type EventReader, FACE_CHECKS } from "../options.ts";
import { FORWARDERS_CHECK } from "./forwarders.ts";
import type { BodyOpener } from "./opened-record.ts";

/** The input of `ChangeMessageVisibilityBatch` of `@aws-sdk/client-sqs`, for up to ten messages of one queue. */
export interface VisibilityRequest {
  QueueUrl: string;
  Entries: { Id: string; ReceiptHandle: string; VisibilityTimeout: number }[];
}

export interface BatchOptions<Entry = unknown, Write = unknown>
  extends Omit<EngineOptions<Write>, "fingerprint" | "whenAbandoned"> {
  /**
   * The stable name of what is done, with the consumer's name in it, such as `charge-payment`. Two consumers of one
   * message need two names, and then both run. 1 to 64 characters.
   */
  readonly operation: string;
  /**
   * How long a finished record is honoured, in seconds: longer than a message can come again. The default covers three days in an
   * outbox, 14 in a queue, 14 in its dead-letter queue, and a redrive.
   * @default 3024000 (35 days)
   */
  readonly retentionSeconds?: number;
  /**
   * What to do with a record that was committed longer ago than `retentionSeconds`, as its envelope says, if nothing is known about
   * its key: it may have been handled before. `"reject"` returns it (`IDEMPOTENCY_KEY_INVALID`), so that it becomes a dead letter.
   * @default "reject" for such a record; otherwise as for every operation: "run"
   */
  readonly whenKeyExpired?: "run" | "reject";
  /**
   * The idempotency key of a record, from what its producer wrote. With a `key` no envelope counts. A record for which
   * `key` yields nothing is returned, and told as `key-missing`: under another key it might run again.
   *
   * Without `key` the envelope's key is taken, and without an envelope the source's name for the record. That name is the
   * deduplication id or message id of SQS (neither survives a redrive), the `eventID` of a stream, or the offset in
   * Kafka. A name that a second send does not share is told as `key-fallback`. A record whose envelope cannot be read
   * is returned too.
   * @default - the envelope's key, or what the source calls the record
   */
  readonly key?: EventReader<Entry>;
  /**
   * Who forwards messages to this consumer inside a body of their own, so that the envelope is in there. Give ARNs of
   * SNS topics (without raw delivery), names or ARNs of EventBridge buses, and ARNs of pipes. **By this you promise
   * that nobody but these can write to the source, and nobody but you to these.** It is not a proof: a topic's ARN is
   * compared with what the body says, buses and pipes leave nothing to compare. Without it a body with an envelope in
   * it is returned, unless there is a `key`.
   * @default - nobody
   */
  readonly forwardedBy?: readonly (string | undefined)[];
  /**
   * The verified owner of the key, such as a tenant: 1 to 256 characters. A record without one is returned. Leave it out
   * where nobody owns the key; an `undefined` that is given is refused.
   * @default "public"
   */
  readonly scope?: EventReader<Entry> | "public";
  /**
   * Reads the part of the record that tells two payloads apart. While a change rolls out, give a list: a record stores the
   * first one's reading, and a payload matches by any.
   * @default - the raw body of a message, the data of a Kinesis record, the change of an item, or the value in Kafka.
   * A forwarded message (`forwardedBy`) is read without its envelope and without what differs when it is forwarded
   * again
   */
  readonly fingerprint?: ((record: Entry) => unknown) | readonly ((record: Entry) => unknown)[];
  /**
   * What becomes of a record that another attempt is working on. `reject` returns the record. `{ waitSeconds }` waits
   * for that time, but no longer than the batch starts records.
   * @default - "reject" for messages of SQS; records of streams and Kafka, which nothing can hide, wait as long as there is time
   */
  readonly whenInProgress?: NonNullable<EngineOptions["whenInProgress"]>;
  /**
   * What becomes of a record whose attempt was abandoned: docs/use/unknown-outcomes.md. `"run"` runs again, `"hold"` returns
   * the record until somebody says how the attempt ended, and a function is asked. Its `input` is the record.
   * @default "run"
   */
  readonly whenAbandoned?: "run" | "hold" | Verify<Entry>;
  /**
   * How many records run at once: messages of a standard queue, groups of a FIFO queue, partitions of Kafka. Within
   * a group, shard or partition it is always one.
   * @default 10
   */
  readonly concurrency?: number;
  /**
   * Whether records that run at once ask DynamoDB together. Their claims share one request, and their commits one
   * transaction where no two write the same item. Completions of handlers that end in the same moment share a request
   * too. Each record is decided by itself: what is refused for one is tried for the others. With `"completions"`,
   * completions wait for each other as well, by the time of one request and 20 ms at most. That takes fewer requests.
   * But a process that is killed just then leaves more records whose handlers have written on their own and run
   * again. Groups take the rights `dynamodb:PartiQLInsert`, `dynamodb:PartiQLUpdate` and `dynamodb:BatchGetItem`;
   * where they are missing, each record asks alone, and `group-refused` is told once. A store of another kind is
   * asked alone.
   * @default true
   */
  readonly groups?: boolean | "completions";
  /**
   * With less than this left of the invocation, in ms, no record is started. With a tenth of the margin left (half a
   * second at most) the batch returns what is not done. What still runs then may be repeated.
   * @default - a fifth of the time left at the start, 2000 at most
   */
  readonly marginMs?: number;
  /**
   * Whether the event source mapping has `ReportBatchItemFailures` set, so that Lambda reads which records failed. With `false`
   * a batch with a failed record throws: Lambda delivers the whole batch again, and the records that are done are skipped. Kafka
   * has the setting in provisioned mode only. Give `true` once it's set, so that done partitions and records don't come again. A
   * mapping without it takes an answer for success, and the failed records would be lost.
   * @default true for SQS, Kinesis and DynamoDB streams, false for Kafka
   */
  readonly reportBatchItemFailures?: boolean;
  /**
   * What becomes of a record whose error is final and recorded. `return` sends it on its way to the dead-letter
   * queue, and each delivery replays the error without running. `acknowledge` ends the record here. The rest of its
   * FIFO group, shard or partition is blocked until then.
   * @default "return"
   */
  readonly whenFinalError?: "acknowledge" | "return";
  /**
   * Hides messages that another invocation is working on until its lease ends, so that they do not use up their
   * receives. Give `(request) => sqs.changeMessageVisibilityBatch(request)`, with the `SQS` of `@aws-sdk/client-sqs`
   * and the permission `sqs:ChangeMessageVisibility`. `QueueUrl` is made from the queue's ARN.
   * @default - they come back after the visibility timeout of the queue
   */
  readonly changeVisibility?: (request: VisibilityRequest) => Promise<unknown>;
  /**
   * Opens the claim checks of messages whose bodies are in a bucket: an `S3Bodies`. The handler gets the record with
   * its body; `key`, `scope` and `fingerprint` see the claim check, which is the same for the same body. The body of
   * a message that is done already is not read.
   * @default - a message whose body is in a bucket is returned, and not run
   */
  readonly bodies?: BodyOpener;
  /**
   * This function is told of each error of a record and of `changeVisibility`, since none of them reaches Lambda. A
   * record that is in progress elsewhere is no error. What the function throws is ignored.
   * @default - `console.error` with the name of the record (message id, sequence number, or offset) and the error
   */
  readonly onRecordError?: (error: unknown, record: Entry) => void;
}

export const BATCH_CHECKS: Readonly<Record<keyof BatchOptions, Check>> = {
  ...ENGINE_CHECKS,
  key: aFunction,
  forwardedBy: FORWARDERS_CHECK,
  scope: FACE_CHECKS.scope,
  concurrency: [
    "must be a whole number from 1 to 1000",
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000,
  ],
  groups: oneOf(true, false, "completions"),
  marginMs: [
    "must be a number of milliseconds from 0 to 300000",
    (value) => typeof value === "number" && value >= 0 && value <= 300_000,
  ],
  reportBatchItemFailures: oneOf(true, false),
  whenFinalError: oneOf("acknowledge", "return"),
  changeVisibility: aFunction,
  bodies: methods("open"),
  onRecordError: aFunction,
};
