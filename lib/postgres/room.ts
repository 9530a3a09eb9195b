/** How much fits in a record. Anything larger is not kept, or is refused before any I/O. No write fails because of its size. */
import { OutboxTransactionTooLargeError } from "../core/errors.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type { SqlDialect } from "./dialect.ts";

/** In bytes of the columns as text. */
export interface Room {
  /** One result. */
  readonly result: number;
  /** In characters: the result of a step that stays among the steps. Each write of a step and each refused claim reads all of them. */
  readonly inStep: number;
  /** The steps, up to the last one with a small result. A step without a result always fits. */
  readonly steps: number;
  /** The larger results of all steps, in the record's row. */
  readonly stepResults: number;
  /** The messages of a commit, and their progress. */
  readonly messages: number;
  /** A result with its messages, and with the steps that stay next to it. */
  readonly row: number;
}

const KIB = 1024;

/** Larger results of steps have rows of their own. Nothing comes near a limit. */
const OF_POSTGRESQL: Room = {
  result: 16 * KIB * KIB,
  inStep: 512,
  steps: Number.POSITIVE_INFINITY,
  stepResults: 0,
  messages: Number.POSITIVE_INFINITY,
  row: Number.POSITIVE_INFINITY,
};

/** A column holds 1 MiB. DSQL doesn't document how it counts, so this leaves a margin. */
const COLUMN = 1020 * KIB;

/** A row holds 2 MiB. The columns not counted here need less than the rest. */
const ROW = 1984 * KIB;

/** 100 steps without results and with the longest names need less. */
const STEPS_ALONE = 160 * KIB;

/** https://docs.aws.amazon.com/aurora-dsql/latest/userguide/CHAP_quotas.html */
const OF_DSQL: Room = {
  result: COLUMN,
  inStep: 4096,
  steps: COLUMN - STEPS_ALONE,
  stepResults: ROW - COLUMN,
  messages: COLUMN,
  row: ROW,
};

export function roomOf(dialect: SqlDialect | undefined): Room {
  return dialect === "dsql" ? OF_DSQL : OF_POSTGRESQL;
}

/** The progress of one message, with the name of its destination and a code. */
const PROGRESS_BYTES = 512;

/**
 * Messages as they are stored, and their size in the row, now and while they are being sent.
 * @throws OutboxTransactionTooLargeError (`OUTBOX_TRANSACTION_TOO_LARGE`)
 */
export function storedMessages(messages: readonly StoredMessage[], room: Room) {
  const text = JSON.stringify(messages);
  const bytes = Buffer.byteLength(text) + messages.length * PROGRESS_BYTES;
  if (bytes <= room.messages) return { text, bytes };
  throw new OutboxTransactionTooLargeError(
    `the messages of a commit need ${bytes} bytes with their progress, but only ${room.messages} fit: send one message that lists them all, or store their bodies in a bucket with S3ClaimCheck`,
  );
}

/** The room left for a result. @param seen the record, if its steps stay next to the result */
export function roomForResult(
  room: Room,
  messageBytes: number,
  seen: Pick<IdempotencyRecord, "steps"> | undefined,
): number {
  const steps = Object.values({ ...seen?.steps });
  const isApart = steps.some(({ result }) => result?.in === "item");
  const stepBytes = Buffer.byteLength(JSON.stringify({ ...seen?.steps })) + (isApart ? room.stepResults : 0);
  return Math.min(room.result, room.row - messageBytes - stepBytes);
}

/** PostgreSQL writes a space after each comma and colon, and numbers without an exponent. */
const REWRITTEN_BYTES = 64;

/** How many bytes members add to a JSON column. */
export function bytesInJson(members: object): number {
  return Buffer.byteLength(JSON.stringify(members)) + REWRITTEN_BYTES;
}
