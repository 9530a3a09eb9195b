/** How much a record has room for. What is larger is not kept, or refused before any I/O. No write is refused for its size. */
import { OutboxTransactionTooLargeError } from "../core/errors.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type { SqlDialect } from "./dialect.ts";

/** In bytes of the columns as text. */
export interface Room {
  /** One result. */
  readonly result: number;
  /** The steps, up to the last one that has a small result. A step without a result has room in any case. */
  readonly steps: number;
  /** The larger results of all steps. */
  readonly stepResults: number;
  /** The messages of a commit, and how far they get. */
  readonly messages: number;
  /** A result with its messages, and with steps that stay beside it. */
  readonly row: number;
}

const KIB = 1024;

/** What is in a `jsonb` takes less than 256 MiB. Nothing else comes near to a limit. */
const OF_POSTGRESQL: Room = {
  result: 16 * KIB * KIB,
  steps: Number.POSITIVE_INFINITY,
  stepResults: 250 * KIB * KIB,
  messages: Number.POSITIVE_INFINITY,
  row: Number.POSITIVE_INFINITY,
};

/** A column holds 1 MiB. How DSQL counts is not documented, so that some of it stays free. */
const COLUMN = 1020 * KIB;

/** A row holds 2 MiB. The columns that are not reckoned take less than the rest. */
const ROW = 1984 * KIB;

/** 100 steps without results, with the longest names, take less. */
const STEPS_ALONE = 160 * KIB;

/** https://docs.aws.amazon.com/aurora-dsql/latest/userguide/CHAP_quotas.html */
const OF_DSQL: Room = {
  result: COLUMN,
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
 * Messages as they are stored, and what they take in the row, now and once they are under way.
 * @throws OutboxTransactionTooLargeError (`OUTBOX_TRANSACTION_TOO_LARGE`)
 */
export function storedMessages(messages: readonly StoredMessage[], room: Room) {
  const text = JSON.stringify(messages);
  const bytes = Buffer.byteLength(text) + messages.length * PROGRESS_BYTES;
  if (bytes <= room.messages) return { text, bytes };
  throw new OutboxTransactionTooLargeError(
    `the messages of a commit take ${bytes} bytes with their progress, ${room.messages} are possible: send one that names them all, or check their bodies in by S3Bodies`,
  );
}

/** What is left for a result. @param seen the record, where its steps stay beside the result */
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

/** PostgreSQL writes a space behind each comma and colon, and numbers without an exponent. */
const REWRITTEN_BYTES = 64;

/** What members add to a column of JSON. */
export function bytesInJson(members: object): number {
  return Buffer.byteLength(JSON.stringify(members)) + REWRITTEN_BYTES;
}
