/** The seam between the form of an event (plain, HTTP) and the way to wrap a handler (Middy, plain function). */

import { remainingMsOf } from "../core/clock.ts";
import { tellObserver } from "../core/decisions.ts";
import { IdempotencyKeyMissingError, ScopeMissingError } from "../core/errors.ts";
import type { Work } from "../core/execution.ts";
import { fingerprintsOf } from "../core/fingerprint.ts";
import { identify, PUBLIC_SCOPE } from "../core/identity.ts";
import { executionOf, type LambdaContext } from "../core/lambda-context.ts";
import { type CallInput, RENEWED_SECONDS } from "../core/ongoing-call.ts";
import type { ResolvedOptions } from "../core/options.ts";
import { isManagedInstance } from "../core/platform.ts";
import type { WithIdempotency } from "./context.ts";
import type { EventReader } from "./options.ts";

/** Reads one event, before anything can change it. */
export type Face<Write> = (event: unknown, context: unknown) => Run<Write> | Passing<Write>;

/** The event passes without a record, and the handler gets this context. */
interface Passing<Write> {
  readonly context: LambdaContext & WithIdempotency<Write>;
}

/** Runs work under the protocol. Resolves to the answer to the event: a result, or the response for an error. */
export type Run<Write> = (work: Work<Write>) => Promise<unknown>;

/** How a face finds key and scope in its events. */
export interface CallReading<Write> {
  readonly options: ResolvedOptions<Write>;
  readonly key: EventReader<unknown>;
  readonly scope: EventReader<unknown> | "public";
  readonly whenKeyMissing: "reject" | "run" | undefined;
  /** What is said of an event without a key. */
  readonly keyMissing?: string;
}

/**
 * Reads who calls, under which key, and with what. Everything is checked before any I/O.
 * @throws IdempotencyKeyMissingError, IdempotencyKeyInvalidError, ScopeMissingError, PayloadInvalidError.
 */
export function readCall<Write>(
  {
    options,
    key: readKey,
    scope,
    whenKeyMissing,
    keyMissing = "no idempotency key: send one per operation",
  }: CallReading<Write>,
  event: unknown,
  context: unknown,
  more?: Partial<CallInput>,
): CallInput {
  const { operation, observe, random, keyPattern } = options;
  const lambdaContext = context as LambdaContext;
  const key = readKey(event, lambdaContext) ?? undefined;
  const keyIsFresh = key === undefined;
  if (keyIsFresh && whenKeyMissing !== "run") {
    const error = new IdempotencyKeyMissingError(keyMissing);
    tellObserver(observe, { operation }, { decision: "key-missing", durationMs: 0, error });
    throw error;
  }
  const owner = scope === "public" ? PUBLIC_SCOPE : scope(event, lambdaContext);
  if (!owner && scope !== "public")
    throw new ScopeMissingError("`scope` yielded no verified caller: check the authorizer");
  const remainingMs = remainingMsOf(context);
  const { awsRequestId } = Object(context) as LambdaContext;
  const readAgain = () => readKey(event, lambdaContext);
  lookAtFirstCall({ options, key, readAgain, awsRequestId, remainingMs });
  return {
    ...more,
    identity: keyIsFresh
      ? identify(operation, owner as string, random.token())
      : identify(operation, owner as string, key, keyPattern),
    fingerprints: fingerprintsOf(options.fingerprints, event),
    payload: event,
    within: executionOf(context),
    remainingMs,
    keyIsFresh,
  };
}

interface FirstCall<Write> {
  readonly options: ResolvedOptions<Write>;
  readonly key: string | undefined;
  /** Reads the key once more. */
  readonly readAgain: () => unknown;
  readonly awsRequestId: unknown;
  readonly remainingMs: number | undefined;
}

const seen = new WeakSet<object>();
const batched = new WeakSet<object>();

/** The first call of a process counts: it has nearly the whole timeout left. */
function lookAtFirstCall<Write>(call: FirstCall<Write>): void {
  const { options, key } = call;
  if (seen.has(options)) return;
  seen.add(options);
  warnOfLease(call);
  const { operation } = options;
  if (typeof key !== "string") return;
  const { awsRequestId, readAgain } = call;
  if (typeof awsRequestId === "string" && awsRequestId.length >= 32 && key.includes(awsRequestId)) {
    console.warn(
      `onceonly: the key of "${operation}" holds the awsRequestId, which is new when a caller or a message comes again: make the key of what the event holds`,
    );
  } else if (!isStable(key, readAgain)) {
    console.warn(
      `onceonly: \`key\` of "${operation}" yields another text each time, as if made of a clock or of randomness, so that no retry is recognised: make the key of what the event holds`,
    );
  }
}

function isStable(key: string, readAgain: () => unknown): boolean {
  try {
    return readAgain() === key;
  } catch {
    return false;
  }
}

/**
 * A lease that outlives its invocation by far: after a crash its keys stay in progress for all of the lease. Also renewals
 * that are paid for nothing.
 */
function warnOfLease<Write>({ options, remainingMs }: FirstCall<Write>): void {
  const { leaseSeconds, mode, operation, renewal } = options;
  const isRenewed = renewal === "always";
  const isAsked = isRenewed || leaseSeconds !== undefined;
  if (!isAsked || mode === "optimistic" || remainingMs === undefined) return;
  const seconds = leaseSeconds ?? RENEWED_SECONDS;
  const left = `the invocation has ${Math.round(remainingMs / 1000)} s left`;
  const asInvocation = "out, and the lease is as long as the invocation";
  if (isRenewed && seconds * 1000 >= remainingMs && !isManagedInstance()) {
    console.warn(
      `onceonly: \`renewLease\` of "${operation}" gains nothing: its lease is ${seconds} s, and ${left}; leave \`renewLease\` ${asInvocation}`,
    );
  } else if (!isRenewed && seconds * 1000 > 2 * remainingMs) {
    console.warn(
      `onceonly: \`leaseSeconds\` of "${operation}" is ${seconds} s, and ${left}: a key stays in progress for ${seconds} s after a crash; leave \`leaseSeconds\` ${asInvocation}`,
    );
  }
}

/** Records of queues and streams come again alone, or in other batches: no key names several of them. */
export function warnOfBatch(options: { readonly operation: string }, event: unknown): void {
  const records = (event as { readonly Records?: unknown } | null | undefined)?.Records;
  if (!Array.isArray(records) || records.length < 2 || batched.has(options)) return;
  const { eventSource } = Object(records[0]) as { readonly eventSource?: unknown };
  if (!/^aws:(sqs|kinesis|dynamodb)$/.test(`${eventSource}`)) return;
  batched.add(options);
  console.warn(
    `onceonly: "${options.operation}" takes ${records.length} records of ${eventSource} as one operation, and they come again in other batches: wrap the handler of one record in idempotentBatch`,
  );
}
