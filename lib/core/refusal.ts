/** Turns a record that refused into the answer of the call: the replayed result, or the error that says why not. */
import { isStoreFailure } from "./error-code.ts";
import {
  ClaimLostError,
  ExecutionInProgressError,
  FingerprintMismatchError,
  OutcomeUnknownError,
} from "./errors.ts";
import type { Operation } from "./operation.ts";
import { type IdempotencyRecord, judge, type Verdict } from "./record.ts";
import { decodeError, decodeResult, readResult } from "./result.ts";

/**
 * What a call answers with. What a handler threw is a value here, now and when it is replayed: whatever its code, it is
 * never taken for an error of onceonly, which is thrown.
 */
export interface Outcome {
  readonly replayed: boolean;
  /** As every caller gets it: decoded from what is stored. */
  readonly result?: unknown;
  /** What the handler itself returned or committed, when it ran in this call and its result counts. */
  readonly original?: unknown;
  /** Instead of a result. */
  readonly failure?: Failure;
}

export interface Failure {
  readonly error: unknown;
  /** A retry is answered from the record, without running. */
  readonly isRecorded: boolean;
  /** Onceonly made it about this call, such as a result that cannot be stored. */
  readonly isOurs: boolean;
}

/** @throws the failure's error. */
export function resultOf({ failure, result }: Outcome): unknown {
  if (failure) throw failure.error;
  return result;
}

/** Answers from the record: with what is in it. @throws an error that says why there is no answer. */
export async function answerFromRecord<Write>(
  operation: Operation<Write>,
  record: IdempotencyRecord,
  verdict: Exclude<Verdict, "own" | "vacant" | "expired">,
): Promise<Outcome> {
  operation.attempt = record.attempt;
  if (verdict === "completed" || verdict === "failed") {
    const text = await readResult(record, operation);
    const failure = verdict === "failed" ? { ...decodeError(text), isRecorded: true } : undefined;
    operation.tell("replayed", failure?.error);
    return failure ? { replayed: true, failure } : { replayed: true, result: decodeResult(text) };
  }
  if (verdict === "mismatch") {
    operation.tell("mismatch");
    throw new FingerprintMismatchError();
  }
  const isHeld = verdict === "held";
  const error = isHeld ? new OutcomeUnknownError() : new ExecutionInProgressError(record.leaseEndsAt);
  operation.tell(isHeld ? "held" : "in-progress", undefined, operation.now() - record.createdAt);
  throw error;
}

/**
 * The answer of an attempt that recorded nothing although it should have: the winner's result.
 * @throws ClaimLostError where the winner has none yet, or none that can be loaded now.
 */
export async function answerAfterLoss<Write>(
  operation: Operation<Write>,
  record: IdempotencyRecord | undefined,
): Promise<Outcome> {
  operation.tell("claim-lost");
  try {
    const answer = await answerOfAnother(operation, record);
    if (answer) return answer;
  } catch (error) {
    if (!isStoreFailure(error)) throw error;
  }
  throw new ClaimLostError();
}

/**
 * The answer that another attempt has put on record; `undefined` where there is none.
 * @throws StoreUnavailableError where it cannot be loaded now; FingerprintMismatchError, RecordCorruptError.
 */
export async function answerOfAnother<Write>(
  operation: Operation<Write>,
  record: IdempotencyRecord | undefined,
): Promise<Outcome | undefined> {
  const verdict = record && judge(record, operation.seek());
  if (!record || (verdict !== "completed" && verdict !== "failed" && verdict !== "mismatch"))
    return undefined;
  return answerFromRecord(operation, record, verdict);
}
