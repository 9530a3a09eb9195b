/** Turns a record that refused into the answer of the call: the replayed result, or the error that says why not. */
import { isStoreFailure } from "./error-code.ts";
import {
  ClaimLostError,
  ExecutionInProgressError,
  FingerprintMismatchError,
  OutcomeUnknownError,
} from "./errors.ts";
import type { Operation } from "./operation.ts";
import { type IdempotencyRecord, type Refusal, readRefusal } from "./record.ts";
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
  refusal: Refusal,
): Promise<Outcome> {
  operation.attempt = record.attempt;
  if (refusal === "completed" || refusal === "failed") {
    const text = await readResult(record, operation);
    const failure = refusal === "failed" ? { ...decodeError(text), isRecorded: true } : undefined;
    operation.tell("replayed", failure?.error);
    return failure ? { replayed: true, failure } : { replayed: true, result: decodeResult(text) };
  }
  if (refusal === "mismatch") {
    operation.tell("mismatch");
    throw new FingerprintMismatchError();
  }
  const isHeld = refusal === "held";
  const error = isHeld ? new OutcomeUnknownError() : new ExecutionInProgressError(record.leaseEndsAt);
  operation.tell(isHeld ? "held" : "in-progress", undefined, operation.now() - record.createdAt);
  throw error;
}

/** An attempt whose claim is gone changes nothing and answers with the winner's result, where there is one. */
export async function answerAfterLoss<Write>(
  operation: Operation<Write>,
  record: IdempotencyRecord | undefined,
): Promise<Outcome> {
  operation.tell("claim-lost");
  const refusal = record && readRefusal(record, operation.seek());
  if (record && (refusal === "completed" || refusal === "failed" || refusal === "mismatch")) {
    try {
      return await answerFromRecord(operation, record, refusal);
    } catch (error) {
      // The winner's result cannot be loaded now. A retry can; our own is not the answer.
      if (!isStoreFailure(error)) throw error;
    }
  }
  throw new ClaimLostError();
}
