/** Reads what the statements answer: one column of JSON, whatever the client makes of other types and of names. */
import { RecordCorruptError } from "../core/errors.ts";
import { type IdempotencyRecord, STATES, type StoredResult } from "../core/record.ts";
import { resultAddressOf } from "../core/result-address.ts";
import type { SqlRow } from "./sql-client.ts";
import { readSteps } from "./step-answers.ts";

/** A record as the statements tell it; none of it is checked. */
export interface ToldRecord {
  readonly [field: string]: unknown;
}

export interface SqlAnswer {
  /** The statement changed the record at this time (epoch ms). */
  readonly serverTimeMs?: number;
  /** When the transaction of the statement began: no other one on this connection began then. */
  readonly began?: string;
  readonly record?: ToldRecord;
  /** The statement wrote a step without its result, which has so many bytes. */
  readonly lostBytes?: number | null;
  /** Epoch ms. */
  readonly since?: number;
}

/** The column of a row, by its position: some clients rename columns. */
export function textOf(row: SqlRow | undefined): string | undefined {
  const [text] = Object.values(row ?? {});
  return typeof text === "string" ? text : undefined;
}

/** @throws RecordCorruptError (`RECORD_CORRUPT`) where the client hands out rows in another form. */
export function answerOf(row: SqlRow | undefined): SqlAnswer {
  if (row === undefined) return {};
  try {
    return JSON.parse(textOf(row) ?? "");
  } catch (cause) {
    throw new RecordCorruptError("a row has no column of JSON: the client must hand out rows as objects", {
      cause,
    });
  }
}

/** @throws RecordCorruptError (`RECORD_CORRUPT`) */
export function recordOf(told: ToldRecord): IdempotencyRecord {
  const refuse = (field: string): never => {
    throw new RecordCorruptError(`column of \`${field}\` is missing, of another type or out of range`);
  };
  const text = (field: string): string => {
    const value = told[field];
    return typeof value === "string" ? value : refuse(field);
  };
  const number = (field: string): number => {
    const value = told[field];
    return Number.isFinite(value) ? (value as number) : refuse(field);
  };
  const state = STATES.find((each) => each === told.state) ?? refuse("state");
  const isFinished = state === "completed" || state === "failed";
  const result = resultOf(told, text, number);
  return {
    version: number("version"),
    state,
    token: text("token"),
    attempt: number("attempt"),
    leaseEndsAt: number("leaseEndsAt"),
    fingerprint: text("fingerprint"),
    createdAt: number("createdAt"),
    ...(isFinished && { completedAt: number("settledAt") }),
    ...("expiresAt" in told && { expiresAt: number("expiresAt") }),
    ...("evidence" in told && { evidence: text("evidence") }),
    ...("steps" in told && { steps: readSteps(text("recordKey"), told.steps) ?? refuse("steps") }),
    ...(result && { result }),
  };
}

function resultOf(
  told: ToldRecord,
  text: (field: string) => string,
  number: (field: string) => number,
): StoredResult | undefined {
  if ("result" in told) return { in: "record", text: text("result") };
  if ("bytes" in told) return { in: "item", address: resultAddressOf(text("recordKey"), text("token")) };
  return "lostBytes" in told ? { in: "nowhere", bytes: number("lostBytes") } : undefined;
}
