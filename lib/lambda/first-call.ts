/**
 * Warnings about an operation's set-up that only a call can show: a key, a scope or a lease that can't be what the author meant. Each
 * is logged once per process and operation, and no call fails for it.
 */
import { shared } from "../core/copies.ts";
import type { LambdaContext } from "../core/lambda-context.ts";
import { RENEWED_SECONDS } from "../core/ongoing-call.ts";
import { isManagedInstance } from "../core/platform.ts";
import type { ResolvedOptions } from "../core/resolved-options.ts";
import type { EventReader } from "./options.ts";

interface FirstCall<Write> {
  readonly options: ResolvedOptions<Write>;
  readonly event: unknown;
  readonly context: LambdaContext;
  readonly key: unknown;
  readonly readKey: EventReader<unknown>;
  readonly owner: unknown;
  readonly remainingMs: number | undefined;
}

const seen = new WeakSet<object>();
const { ran, reported } = shared("operations", () => ({
  /** By store and operation, the fingerprinters of the wrapper that ran it: they are the wrapper's own, and its options are copied. */
  ran: new WeakMap<object, Map<string, object>>(),
  reported: {},
}));
const batched = new WeakSet<object>();

/** The first call of a process counts: it has nearly the whole timeout left. */
export function warnOnFirstCall<Write>(call: FirstCall<Write>): void {
  const { options } = call;
  if (seen.has(options)) return;
  seen.add(options);
  warnOfLease(call);
  warnOfTwin(options);
  warnOfKey(call);
  warnOfOwner(call);
}

function warnOfTwin<Write>({ store, operation, fingerprints }: ResolvedOptions<Write>): void {
  const operations = ran.get(store) ?? new Map<string, object>();
  ran.set(store, operations);
  const first = operations.get(operation);
  if (first === undefined) operations.set(operation, fingerprints);
  else if (first !== fingerprints && first !== reported) {
    operations.set(operation, reported);
    console.warn(
      `onceonly: two wrappers run the operation "${operation}" on one store, so of one key only the first handler runs, and the other answers with its result: give each handler its own operation, and wrap it once, outside the call`,
    );
  }
}

function warnOfKey<Write>({
  options: { operation, clock },
  event,
  context,
  key,
  readKey,
}: FirstCall<Write>): void {
  if (typeof key !== "string") return;
  const { awsRequestId } = Object(context) as LambdaContext;
  if (typeof awsRequestId === "string" && awsRequestId.length >= 32 && key.includes(awsRequestId)) {
    console.warn(
      `onceonly: the key of "${operation}" holds the awsRequestId, which is new when a caller or a message comes again: make the key of what the event holds`,
    );
  } else if (!isStable(key, () => readKey(event, context))) {
    console.warn(
      `onceonly: \`key\` of "${operation}" yields another text each time, as if made of a clock or of randomness, so that no retry is recognised: make the key of what the event holds`,
    );
  } else if (holdsPresent(key, event, clock.now())) {
    console.warn(
      `onceonly: the key of "${operation}" holds the present time or date, and the event doesn't: a retry gets another key and runs again. Make the key of what the event holds`,
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

/** Epoch milliseconds or seconds, and ISO 8601 down to the day, the minute or the second. */
const TIMES = /\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?|(?<!\d)\d{13}(?!\d)|(?<!\d)\d{10}(?!\d)/g;
const DAY_MS = 86_400_000;

/** A time that the event itself holds may be in the key: it comes again with a retry. */
function holdsPresent(key: string, event: unknown, now: number): boolean {
  const present = (key.match(TIMES) ?? []).filter((text) => isPresent(text, now));
  if (present.length === 0) return false;
  try {
    const known = JSON.stringify(event) ?? "";
    return present.some((text) => !known.includes(text));
  } catch {
    return false;
  }
}

function isPresent(text: string, now: number): boolean {
  if (/^\d+$/.test(text)) return Math.abs(Number(text) * (text.length === 10 ? 1000 : 1) - now) < 5000;
  const at = Date.parse(text.length === 16 || text.length === 19 ? `${text}Z` : text);
  // A day as some time zone has it.
  const within = text.length === 10 ? 1.5 * DAY_MS : text.length === 16 ? 65_000 : 5000;
  return Math.abs(at + (text.length === 10 ? DAY_MS / 2 : 0) - now) < within;
}

/** A header that the caller writes says nothing about who the caller is. Lambda itself sets the header of a tenant. */
function warnOfOwner<Write>({ options: { operation }, event, owner }: FirstCall<Write>): void {
  const { headers } = Object(event) as { readonly headers?: unknown };
  const source = Object.entries(Object(headers)).find(
    ([name, value]) => value === owner && typeof owner === "string" && !/^x-amz-tenant-id$/i.test(name),
  );
  if (!source) return;
  console.warn(
    `onceonly: the scope of "${operation}" is the header \`${source[0]}\`, which any caller can write: read the caller from the authorizer, such as by callerFromJwt(), or make sure that only your own proxy can set it`,
  );
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
  const {
    Records,
    records: byPartition,
    eventSource: source,
  } = Object(event) as Readonly<Record<string, unknown>>;
  const given = typeof byPartition === "object" ? Object.values(byPartition ?? {}).flat() : [];
  const records = [event, Records].find(Array.isArray) ?? given;
  if (records.length < 2 || batched.has(options)) return;
  const { eventSource = source } = Object(records[0]) as { readonly eventSource?: unknown };
  if (!/^(aws:(sqs|kinesis|dynamodb|kafka)|SelfManagedKafka)$/.test(`${eventSource}`)) return;
  batched.add(options);
  console.warn(
    `onceonly: "${options.operation}" takes ${records.length} records of ${eventSource} as one operation, and they come again in other batches: wrap the handler of one record in idempotentBatch`,
  );
}
