/** The outcome of a call: the result or error, how both are encoded and decoded, and what a record answers. */
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
import { type ClaimStatus, classify, type IdempotencyRecord, type StoredResult } from "./record.ts";

/** A caller that polls less often learns too late that an attempt has failed. */
const MAX_RETRY_AFTER_MS = 10_000;

/**
 * The outcome of a call. An error that a handler threw is a value here, both now and when it is replayed. So it can't be
 * confused with one of onceonly's own errors, which are thrown, whatever its code is.
 */
export type Outcome = ResultOutcome | FailureOutcome;

export interface ResultOutcome {
  readonly replayed: boolean;
  /** As every caller gets it: decoded from the stored text. */
  readonly result: unknown;
  /** The handler's own value, if the handler ran in this call and its result counts. */
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
  /** A retry is answered from the record, without running the handler. */
  readonly isRecorded: boolean;
  /** Onceonly created the error for this call, such as for a result that can't be stored. */
  readonly isOurs: boolean;
  /** The handler threw a PermanentError. The class of a replayed error can't show it: all replayed errors have that class. */
  readonly isPermanent?: boolean | undefined;
}

/** @throws the failure's error. */
export function resultOf({ failure, result }: Outcome): unknown {
  if (failure) throw failure.error;
  return result;
}

/** Answers from the record. @throws an error that says why there is no result. */
export async function answerFromRecord<Write>(
  call: OngoingCall<Write>,
  record: IdempotencyRecord,
  status: Exclude<ClaimStatus, "own" | "vacant" | "expired">,
): Promise<Outcome> {
  call.attempt = record.attempt;
  if (status === "completed" || status === "failed") {
    const text = await readResult(record.result, call);
    const outcome: Outcome =
      status === "failed"
        ? { replayed: true, failure: { ...decodeError(text), isRecorded: true } }
        : { replayed: true, result: decodeResult(text) };
    call.report("replayed", outcome.failure?.error);
    return outcome;
  }
  if (status === "mismatch") {
    call.report("mismatch");
    throw new FingerprintMismatchError();
  }
  const isHeld = status === "held";
  const error = isHeld ? new OutcomeUnknownError() : inProgress(call, record);
  call.report(isHeld ? "held" : "in-progress", undefined, call.now() - record.createdAt);
  throw error;
}

/** Half of the claim's age: short waits for quick work, few polls for slow work. */
function inProgress<Write>(call: OngoingCall<Write>, record: IdempotencyRecord): ExecutionInProgressError {
  const { createdAt, attempt, leaseEndsAt } = record;
  const now = call.now();
  // A record doesn't store when it was taken over. This assumes that the other call's lease was as long as this one's.
  const leaseMs = call.leaseEndsAt(call.startedAt) - call.startedAt;
  const claimedAt = attempt === 1 ? createdAt : Math.max(createdAt, leaseEndsAt - leaseMs);
  // Another store's record may lack a time.
  const ms = Math.min((now - claimedAt) / 2, leaseEndsAt - now, MAX_RETRY_AFTER_MS);
  return new ExecutionInProgressError(leaseEndsAt, Math.max(1, Math.ceil(ms / 1000) || 1));
}

/**
 * The outcome of an attempt that should have recorded something but didn't: the winner's result.
 * @throws ClaimLostError if the winner has no result yet, or none that can be loaded now.
 */
export async function answerAfterLoss<Write>(
  call: OngoingCall<Write>,
  record: IdempotencyRecord | undefined,
): Promise<Outcome> {
  call.report("claim-lost");
  try {
    const answer = await answerOfAnother(call, record);
    if (answer) return answer;
  } catch (error) {
    if (!isStoreFailure(error)) throw error;
  }
  throw new ClaimLostError();
}

/**
 * The outcome that another attempt recorded; `undefined` if there is none.
 * @throws StoreUnavailableError if it can't be loaded now; FingerprintMismatchError, RecordCorruptError.
 */
export async function answerOfAnother<Write>(
  call: OngoingCall<Write>,
  record: IdempotencyRecord | undefined,
): Promise<Outcome | undefined> {
  const status = record && classify(record, call.seek());
  if (!record || (status !== "completed" && status !== "failed" && status !== "mismatch")) return undefined;
  return answerFromRecord(call, record, status);
}

// Results are encoded before the first caller is answered, so that the first answer equals each replay.

/**
 * `undefined` stays absent; anything else becomes JSON. Properties that are `undefined` are left out, for the first caller too.
 * @param call the call whose own error is meant, if a handler may pass it on
 * @throws ResponseNotStorableError (`RESPONSE_NOT_STORABLE`) for values that JSON would change or can't hold.
 */
export function encodeResult<Write>(value: unknown, call?: OngoingCall<Write>): string | undefined {
  if (value === undefined) return undefined;
  const fault = findUnfaithful(value);
  if (fault !== undefined) {
    const error = new ResponseNotStorableError(`can't store the result: ${fault.path} is ${fault.why}`);
    call?.own(error);
    throw error;
  }
  return JSON.stringify(value);
}

/** Stored in place of a result that was erased or must not be kept. It isn't valid JSON, so it can't be a handler's result. */
export const NOT_KEPT = "not kept";

/** Prefix of a pointer to a result in a bucket. No JSON begins like this either. */
export const IN_BUCKET = "bucket.1.";

/**
 * The work is done, but the database refuses to store its result. The record then says that the operation is done and its
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
    // Not with the parser's error as its cause: that repeats part of the text.
    if (text === NOT_KEPT) throw new ResultNotKeptError(0);
    throw new RecordCorruptError(
      `the stored result is ${text.startsWith(IN_BUCKET) ? "in a bucket: use `offloaded`" : "not JSON"}`,
    );
  }
}

/** The text of a result, from the record or from its own item. */
export async function readResult<Write>(
  result: StoredResult | undefined,
  call: OngoingCall<Write>,
): Promise<string | undefined> {
  if (result === undefined) return undefined;
  if (result.in === "record") return result.text;
  if (result.in === "nowhere") throw new ResultNotKeptError(result.bytes);
  const text = await call.ask((store) => store.loadResult(result.address));
  if (text === undefined) throw new RecordCorruptError("the item with the stored result is missing");
  return text;
}

/** The properties of an error that are kept: callers can see them. Stacks and causes are dropped. */
const KEPT = [
  ["name", /string/],
  ["message", /string/],
  ["code", /string|number|boolean/],
  ["statusCode", /string|number|boolean/],
  ["expose", /string|number|boolean/],
] as const;

/** Never throws, whatever was thrown. `isOurs`: onceonly created the error for this call, and the handler only passed it on. */
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
      // Not an object, or a getter that throws.
    }
  }
  return JSON.stringify(stored);
}

/**
 * A `PermanentError` with the name, message, code and status of the recorded error. The code doesn't show who created the
 * error: `isOurs` does.
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

/** Checked by code, so it also matches a PermanentError from another copy of the package. */
export function isPermanent(error: unknown): boolean {
  return hasCode(error, "PERMANENT");
}
