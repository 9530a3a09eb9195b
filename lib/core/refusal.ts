/** Turns a record that refused into the answer of the call: the replayed result, or the error that says why not. */
import {
  ClaimLostError,
  ExecutionInProgressError,
  FingerprintMismatchError,
  OutcomeUnknownError,
} from "./errors.ts";
import type { Operation } from "./operation.ts";
import { type IdempotencyRecord, type Refusal, readRefusal } from "./record.ts";
import { decodeError, decodeResult, readResult } from "./result.ts";

/** What a call answers with. */
export interface Outcome {
  readonly replayed: boolean;
  /** As every caller gets it: decoded from what is stored. */
  readonly result: unknown;
  /** What the handler itself returned or committed, when it ran in this call and its result counts. */
  readonly original?: unknown;
}

/** Answers from the record, or throws. `own`, `expired` and `claimable` records are the caller's business. */
export async function answerFromRecord<Write>(
  operation: Operation<Write>,
  record: IdempotencyRecord,
  refusal: Exclude<Refusal, "own" | "expired" | "claimable">,
): Promise<Outcome> {
  const { attempt } = record;
  switch (refusal) {
    case "completed": {
      const text = await readResult(record, operation);
      operation.tell("replayed", { attempt });
      return { replayed: true, result: decodeResult(text) };
    }
    case "failed": {
      const error = decodeError(await readResult(record, operation));
      operation.tell("replayed", { attempt, error });
      throw error;
    }
    case "mismatch":
      operation.tell("mismatch", { attempt });
      throw new FingerprintMismatchError();
    case "held":
      throw new OutcomeUnknownError();
    case "in-progress":
    case "released":
      operation.tell("in-progress", { attempt });
      throw new ExecutionInProgressError(record.leaseEndsAt);
  }
}

/** An attempt whose claim is gone changes nothing and answers with the winner's result, where there is one. */
export async function answerAfterLoss<Write>(
  operation: Operation<Write>,
  record: IdempotencyRecord | undefined,
  attempt: number,
): Promise<Outcome> {
  operation.tell("claim-lost", { attempt });
  if (record !== undefined) {
    const refusal = readRefusal(record, operation.seeker);
    if (refusal === "completed" || refusal === "failed" || refusal === "mismatch") {
      return answerFromRecord(operation, record, refusal);
    }
  }
  throw new ClaimLostError();
}
