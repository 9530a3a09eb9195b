/** Reads the answers of statements: one JSON column, so that the client's handling of other types and names doesn't matter. */
import { RecordCorruptError } from "../core/errors.ts";
import { type IdempotencyRecord, STATES, type StoredResult } from "../core/record.ts";
import { resultAddressOf } from "../core/result-address.ts";
import type { SqlRow } from "./sql-client.ts";
import { readSteps } from "./step-answers.ts";

/** A record as statements return it, unchecked. */
export interface JsonRecord {
  readonly [field: string]: unknown;
}

export interface SqlAnswer {
  /** The statement changed the record at this time (epoch ms). */
  readonly serverTimeMs?: number;
  /** When the statement's transaction began: no other transaction on this connection began at that time. */
  readonly began?: string;
  /** The server process of the statement's connection. */
  readonly pid?: number;
  readonly record?: JsonRecord;
  /** The statement wrote a step without its result; this is the result's size in bytes. */
  readonly lostBytes?: number | null;
  /** Epoch ms. */
  readonly since?: number;
  /** Whether the session in question has ended. */
  readonly isGone?: boolean | null;
}

/** The column of a row, by position: some clients rename columns. */
export function textOf(row: SqlRow | undefined): string | undefined {
  const [text] = Object.values(row ?? {});
  return typeof text === "string" ? text : undefined;
}

/** @throws RecordCorruptError (`RECORD_CORRUPT`) if the client returns rows in another form. */
export function answerOf(row: SqlRow | undefined): SqlAnswer {
  if (row === undefined) return {};
  try {
    return JSON.parse(textOf(row) ?? "");
  } catch (cause) {
    throw new RecordCorruptError("a row has no JSON column: the client must return rows as objects", {
      cause,
    });
  }
}

/** @throws RecordCorruptError (`RECORD_CORRUPT`) */
export function recordOf(stored: JsonRecord): IdempotencyRecord {
  const refuse = (field: string): never => {
    throw new RecordCorruptError(`column of \`${field}\` is missing, has the wrong type or is out of range`);
  };
  const text = (field: string): string => {
    const value = stored[field];
    return typeof value === "string" ? value : refuse(field);
  };
  const number = (field: string): number => {
    const value = stored[field];
    return Number.isFinite(value) ? (value as number) : refuse(field);
  };
  const state = STATES.find((each) => each === stored.state) ?? refuse("state");
  const isFinished = state === "completed" || state === "failed";
  const result = resultOf(stored, text, number);
  return {
    version: number("version"),
    state,
    token: text("token"),
    attempt: number("attempt"),
    leaseEndsAt: number("leaseEndsAt"),
    fingerprint: text("fingerprint"),
    createdAt: number("createdAt"),
    ...(isFinished && { completedAt: number("settledAt") }),
    ...("expiresAt" in stored && { expiresAt: number("expiresAt") }),
    ...("evidence" in stored && { evidence: text("evidence") }),
    ...("steps" in stored && { steps: readSteps(text("recordKey"), stored.steps) ?? refuse("steps") }),
    ...(result && { result }),
  };
}

function resultOf(
  stored: JsonRecord,
  text: (field: string) => string,
  number: (field: string) => number,
): StoredResult | undefined {
  if ("result" in stored) return { in: "record", text: text("result") };
  if ("bytes" in stored) return { in: "item", address: resultAddressOf(text("recordKey"), text("token")) };
  return "lostBytes" in stored ? { in: "nowhere", bytes: number("lostBytes") } : undefined;
}
