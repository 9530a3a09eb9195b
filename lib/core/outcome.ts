/** The answer of a call: the result or error, how both become text and back, and what a record answers. */
import { hasCode, isStoreFailure } from "./error-code.ts";
import {
  ClaimLostError,
  ExecutionInProgressError,
  FingerprintMismatchError,
  OutcomeUnknownError,
  PermanentError,
  RecordCorruptError,
  ResponseNotStorableError,
  ResultNotKeptError,
} from "./errors.ts";
import { findUnfaithful } from "./json.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { type IdempotencyRecord, judge, type StoredResult, type Verdict } from "./record.ts";

/** A caller that asks less often than this learns late of an attempt that has failed. */
const MAX_RETRY_AFTER_MS = 10_000;

/**
 * The answer of a call. An error that a handler threw is a value here, now and when it is replayed. Whatever the code of
 * that error is, nobody takes it for an error of onceonly, which is thrown.
 */
export type Outcome = ResultOutcome | FailureOutcome;

export interface ResultOutcome {
  readonly replayed: boolean;
  /** As every caller gets it: decoded from what is stored. */
  readonly result: unknown;
  /** The handler's own value, where the handler ran in this call and its result counts. */
  readonly original?: unknown;
  readonly failure?: undefined;
}

interface FailureOutcome {
  readonly replayed: boolean;
  readonly failure: HandlerFailure;
  readonly result?: undefined;
  readonly original?: undefined;
}

interface HandlerFailure {
  readonly error: unknown;
  /** A retry is answered from the record, without running. */
  readonly isRecorded: boolean;
  /** Onceonly made the error about this call, such as a result that cannot be stored. */
  readonly isOurs: boolean;
  /** The handler threw a PermanentError. The class of a replayed error does not tell: each has that one. */
  readonly isPermanent?: boolean | undefined;
}

/** @throws the failure's error. */
export function resultOf({ failure, result }: Outcome): unknown {
  if (failure) throw failure.error;
  return result;
}

/** Answers from the record. @throws an error that says why there is no answer. */
export async function answerFromRecord<Write>(
  call: OngoingCall<Write>,
  record: IdempotencyRecord,
  verdict: Exclude<Verdict, "own" | "vacant" | "expired">,
): Promise<Outcome> {
  call.attempt = record.attempt;
  if (verdict === "completed" || verdict === "failed") {
    const text = await readResult(record.result, call);
    const outcome: Outcome =
      verdict === "failed"
        ? { replayed: true, failure: { ...decodeError(text), isRecorded: true } }
        : { replayed: true, result: decodeResult(text) };
    call.tell("replayed", outcome.failure?.error);
    return outcome;
  }
  if (verdict === "mismatch") {
    call.tell("mismatch");
    throw new FingerprintMismatchError();
  }
  const isHeld = verdict === "held";
  const error = isHeld ? new OutcomeUnknownError() : inProgress(call, record);
  call.tell(isHeld ? "held" : "in-progress", undefined, call.now() - record.createdAt);
  throw error;
}

/** Half of the claim's age: a caller waits little for what is quick, and asks seldom for what is slow. */
function inProgress<Write>(call: OngoingCall<Write>, record: IdempotencyRecord): ExecutionInProgressError {
  const { createdAt, attempt, leaseEndsAt } = record;
  const now = call.now();
  // A record does not tell when it was taken over. The lease of a call like this one was as long as this one's.
  const leaseMs = call.leaseEndsAt(call.startedAt) - call.startedAt;
  const claimedAt = attempt === 1 ? createdAt : Math.max(createdAt, leaseEndsAt - leaseMs);
  // A record of another store may lack a time.
  const ms = Math.min((now - claimedAt) / 2, leaseEndsAt - now, MAX_RETRY_AFTER_MS);
  return new ExecutionInProgressError(leaseEndsAt, Math.max(1, Math.ceil(ms / 1000) || 1));
}

/**
 * The answer of an attempt that recorded nothing although it should have: the winner's result.
 * @throws ClaimLostError where the winner has none yet, or none that can be loaded now.
 */
export async function answerAfterLoss<Write>(
  call: OngoingCall<Write>,
  record: IdempotencyRecord | undefined,
): Promise<Outcome> {
  call.tell("claim-lost");
  try {
    const answer = await answerOfAnother(call, record);
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
  call: OngoingCall<Write>,
  record: IdempotencyRecord | undefined,
): Promise<Outcome | undefined> {
  const verdict = record && judge(record, call.seek());
  if (!record || (verdict !== "completed" && verdict !== "failed" && verdict !== "mismatch"))
    return undefined;
  return answerFromRecord(call, record, verdict);
}

// Results are encoded before the first caller is answered, so that the first answer equals each replay.

/**
 * `undefined` stays absent; anything else becomes JSON. Properties that are `undefined` are left out, for
 * the first caller too.
 * @param call whose own error is meant, where a handler may pass it on
 * @throws ResponseNotStorableError (`RESPONSE_NOT_STORABLE`) for what JSON would change or cannot hold.
 */
export function encodeResult<Write>(value: unknown, call?: OngoingCall<Write>): string | undefined {
  if (value === undefined) return undefined;
  const fault = findUnfaithful(value);
  if (fault !== undefined) {
    const error = new ResponseNotStorableError(`the result cannot be stored: ${fault.path} is ${fault.why}`);
    call?.own(error);
    throw error;
  }
  return JSON.stringify(value);
}

/** Stored in the place of a result that was erased, or is not to be kept. No JSON, so that it is no result of a handler. */
export const NOT_KEPT = "not kept";

/**
 * The work is done, and the database refuses to keep its result. Then the record says that the operation is done and its
 * result was not kept: without a record the effect would be repeated once per lease.
 */
export const refusesContent = (error: unknown, text: string | undefined): boolean =>
  text !== undefined && isStoreFailure(error) && error.refusesContent === true;

/** @throws ResultNotKeptError, RecordCorruptError */
export function decodeResult(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Without the parser's error as its cause: that repeats a part of the text.
    throw text === NOT_KEPT
      ? new ResultNotKeptError(0)
      : new RecordCorruptError("the stored result is not JSON");
  }
}

/** The text of a result, wherever that is stored. */
export async function readResult<Write>(
  result: StoredResult | undefined,
  call: OngoingCall<Write>,
): Promise<string | undefined> {
  if (result === undefined) return undefined;
  if (result.in === "record") return result.text;
  if (result.in === "nowhere") throw new ResultNotKeptError(result.bytes);
  const text = await call.ask((store) => store.loadResult(result.address));
  if (text === undefined) throw new RecordCorruptError("the item that holds the stored result is gone");
  return text;
}

/** The properties of an error that are kept: a caller can see them. Stacks, causes and others are not kept. */
const KEPT = [
  ["name", /string/],
  ["message", /string/],
  ["code", /string|number|boolean/],
  ["statusCode", /string|number|boolean/],
  ["expose", /string|number|boolean/],
] as const;

/** Never throws, whatever was thrown. `isOurs`: onceonly made it about this call, the handler only passed it on. */
export function encodeError(error: unknown, isOurs: boolean): string {
  const stored: Record<string, unknown> = {
    name: "Error",
    message: Object(error) === error ? "an object was thrown" : String(error),
    isOurs: isOurs || undefined,
    isPermanent: isPermanent(error) || undefined,
  };
  for (const [name, kinds] of KEPT) {
    try {
      const value = (error as Record<string, unknown>)[name];
      if (kinds.test(typeof value)) stored[name] = value;
    } catch {
      // Nothing to read it from, or a getter that throws.
    }
  }
  return JSON.stringify(stored);
}

/**
 * A `PermanentError` that carries name, message, code and status of the error that was recorded. The code does not tell
 * who made the error: `isOurs` does.
 */
export function decodeError(text: string | undefined): Pick<HandlerFailure, "isOurs" | "isPermanent"> & {
  readonly error: PermanentError;
} {
  const stored = decodeResult(text) as Partial<Record<"message" | keyof HandlerFailure, unknown>> | undefined;
  if (typeof stored?.message !== "string") throw new RecordCorruptError("the stored error cannot be read");
  const { isOurs, isPermanent, ...kept } = stored;
  const error = Object.assign(new PermanentError(stored.message), kept);
  return { error, isOurs: isOurs === true, isPermanent: isPermanent === true || undefined };
}

/** By its code: a PermanentError of another copy of the package is one too. */
export function isPermanent(error: unknown): boolean {
  return hasCode(error, "PERMANENT");
}
