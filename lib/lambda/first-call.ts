/**
 * Warnings about an operation's set-up that only a call can reveal: a key, scope or lease that can't be what the author
 * meant. Each is logged once per process and operation, and no call fails because of it.
 */
import { findEventSource } from "../contract.ts";
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
  /**
   * By store and operation, the fingerprinters of the wrapper that ran it: each wrapper has its own, while its options
   * are copied.
   */
  ran: new WeakMap<object, Map<string, object>>(),
  reported: {},
}));
const batched = new WeakSet<object>();

/** Checks a process's first call, because it has nearly the whole timeout left. */
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
      `onceonly: two wrappers use the operation "${operation}" on the same store, so for each key only the first handler runs: give each handler its own operation, and wrap it only once`,
    );
  }
}

function warnOfKey<Write>(call: FirstCall<Write>): void {
  const fault = keyFault(call);
  if (!fault) return;
  console.warn(
    `onceonly: the key of "${call.options.operation}" ${fault}, so no retry is recognized: build the key only from what the event contains`,
  );
}

function keyFault<Write>({ options, event, context, key, readKey }: FirstCall<Write>): string | undefined {
  if (typeof key !== "string") return undefined;
  const { awsRequestId } = Object(context) as LambdaContext;
  if (typeof awsRequestId === "string" && awsRequestId.length >= 32 && key.includes(awsRequestId))
    return "contains the awsRequestId, which differs in every retry";
  if (!isStable(key, () => readKey(event, context)))
    return "is a different string each time, probably from a clock or a random id";
  if (holdsPresent(key, event, options.clock.now()))
    return "contains the current time or date, which isn't in the event";
  return undefined;
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

/** The key may contain a time from the event itself, because a retry has the same one. */
function holdsPresent(key: string, event: unknown, now: number): boolean {
  const encoded = [16, 36]
    .map((radix) => now.toString(radix).slice(0, -3))
    .filter((text) => key.includes(text));
  const present = [...(key.match(TIMES) ?? []).filter((text) => isPresent(text, now)), ...encoded];
  if (present.length === 0) return false;
  try {
    const known = JSON.stringify(event, readable) ?? "";
    return present.some((text) => !known.includes(text));
  } catch {
    return false;
  }
}

/** Decodes bodies: Kinesis, Kafka and some HTTP events use base64, other clients bytes. */
function readable(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const own = this[name];
  if (own instanceof Uint8Array) return Buffer.from(own).toString("latin1");
  const isBase64 = typeof value === "string" && /^[A-Za-z\d+/]{8,}={0,2}$/.test(value);
  return isBase64 ? value + Buffer.from(value, "base64").toString("latin1") : value;
}

function isPresent(text: string, now: number): boolean {
  if (/^\d+$/.test(text)) return Math.abs(Number(text) * (text.length === 10 ? 1000 : 1) - now) < 5000;
  const at = Date.parse(text.length === 16 || text.length === 19 ? `${text}Z` : text);
  // The day in any time zone.
  const within = text.length === 10 ? 1.5 * DAY_MS : text.length === 16 ? 65_000 : 5000;
  return Math.abs(at + (text.length === 10 ? DAY_MS / 2 : 0) - now) < within;
}

/** A header that callers can write doesn't identify them. Lambda itself sets the tenant's header. */
function warnOfOwner<Write>({ options: { operation }, event, owner }: FirstCall<Write>): void {
  const { headers } = Object(event) as { readonly headers?: unknown };
  const source = Object.entries(Object(headers)).find(
    ([name, value]) => value === owner && typeof owner === "string" && !/^x-amz-tenant-id$/i.test(name),
  );
  if (!source) return;
  console.warn(
    `onceonly: the scope of "${operation}" is the header \`${source[0]}\`, which any caller can set: read the caller from the authorizer, such as by callerFromJwt(), or make sure that only your own proxy can set it`,
  );
}

/**
 * Warns if a lease far outlives its invocation, because after a crash its keys stay in progress for the whole lease. Also
 * warns about renewals that cost money but gain nothing.
 */
function warnOfLease<Write>({ options, remainingMs }: FirstCall<Write>): void {
  const { leaseSeconds, mode, operation, renewal } = options;
  const isRenewed = renewal === "always";
  const isAsked = isRenewed || leaseSeconds !== undefined;
  if (!isAsked || mode === "optimistic" || remainingMs === undefined) return;
  const seconds = leaseSeconds ?? RENEWED_SECONDS;
  const left = `the invocation has ${Math.round(remainingMs / 1000)} s left`;
  const asInvocation = "out, so that the lease lasts as long as the invocation";
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

/** Records of queues and streams come back separately, or in other batches, so no key can cover several of them. */
export function warnOfBatch(options: { readonly operation: string }, event: unknown): void {
  const {
    Records,
    messages,
    rmqMessagesByQueue,
    records: byPartition = rmqMessagesByQueue,
    eventSource: source,
  } = Object(event) as Readonly<Record<string, unknown>>;
  const given = typeof byPartition === "object" ? Object.values(byPartition ?? {}).flat() : [];
  const records = [event, Records, messages].find(Array.isArray) ?? given;
  if (records.length < 2 || batched.has(options)) return;
  const { eventSource = source } = Object(records[0]) as { readonly eventSource?: unknown };
  if (!findEventSource(eventSource)) return;
  batched.add(options);
  console.warn(
    `onceonly: "${options.operation}" treats ${records.length} records from ${eventSource} as one operation, but they may come back in different batches: use idempotentBatch with a handler for a single record`,
  );
}
