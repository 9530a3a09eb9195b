/** Checks a batch's options, fills in defaults, and adapts functions of records to the items that hold them. */
import { LONGEST_INVOCATION_SECONDS } from "../../contract.ts";
import { reportDecision } from "../../core/decisions.ts";
import { marksOf } from "../../core/front-store.ts";
import { MESSAGE_DEFAULTS } from "../../core/message-age.ts";
import { checkOptions } from "../../core/option-checks.ts";
import { type EngineOptions, withDefaults } from "../../core/options.ts";
import { type ResolvedOptions, resolveOptions } from "../../core/resolved-options.ts";
import { groupedStore } from "../../dynamodb/grouped-store.ts";
import type { CallReading } from "../adapter.ts";
import { BATCH_CHECKS, type BatchOptions } from "./batch-options.ts";
import type { Forwarders } from "./forwarders.ts";
import { type BatchItem, nameOf } from "./item.ts";
import type { S3Key } from "./s3-changes.ts";

export interface BatchSettings<Write> {
  readonly reading: CallReading<Write>;
  /** The options have a `key`, so no other key replaces a missing one. */
  readonly hasKey: boolean;
  /** Splits records that carry several operations. */
  readonly partsOf: S3Key["partsOf"] | undefined;
  /** The user's choice for messages older than the retention. */
  readonly whenKeyExpired: BatchOptions["whenKeyExpired"];
  /** For records that can't be hidden until another attempt's lease ends. */
  readonly whileUnhidden: ResolvedOptions<Write>;
  readonly concurrency: number;
  readonly deadlineMarginMs: number | undefined;
  readonly trustedForwarders: Forwarders | undefined;
  readonly reportBatchItemFailures: boolean | undefined;
  readonly acknowledgesFinalErrors: boolean;
  readonly changeVisibility: BatchOptions["changeVisibility"];
  readonly claimCheck: BatchOptions["claimCheck"];
  readonly onRecordError: (error: unknown, item: BatchItem) => void;
}

/** Each record holds its event, and what its handler has loaded, in memory. */
const MOST_RECORDS = 100;

/** The size of a `pg` pool by default. A record that has to wait for a connection can fail for that. */
const POOLED_RECORDS = 10;

/** How many records run at the same time by default. */
export function concurrencyOf(store: object): number {
  return marksOf(store as never).usesPool ? POOLED_RECORDS : MOST_RECORDS;
}

/** As long as an invocation lasts; the batch's own time ends the wait earlier, and its `concurrency` bounds the waiters. */
const UNTIL_THE_LEASE_ENDS = {
  whenInProgress: { waitSeconds: LONGEST_INVOCATION_SECONDS, maxWaiters: 1000 },
} as const;

type OfRecord = (record: unknown, ...rest: unknown[]) => unknown;
const ofItem =
  (read: OfRecord) =>
  (item: BatchItem, ...rest: unknown[]) =>
    read(item.record, ...rest);

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function settingsOf<Entry, Write>(options: BatchOptions<Entry, Write>): BatchSettings<Write> {
  checkOptions(options, BATCH_CHECKS, ["operation", "store"]);
  const { key, scope, fingerprint, concurrency, deadlineMarginMs, whenFinalError, ...rest } = options;
  const {
    changeVisibility,
    claimCheck,
    trustedForwarders,
    groupRequests = true,
    onRecordError,
    ...others
  } = rest;
  const { reportBatchItemFailures, ...given } = others;
  const { partsOf, contentOf } = Object(key) as Partial<S3Key>;
  const ofRecord = fingerprint ?? contentOf;
  const resolved = resolveOptions({
    ...withDefaults(given, MESSAGE_DEFAULTS),
    fingerprint:
      ofRecord === undefined
        ? (item: BatchItem) => item.body
        : [ofRecord].flat().map((each) => ofItem(each as OfRecord)),
  } as EngineOptions<Write>);
  const engineOptions = groupRequests ? withGroups(resolved, groupRequests === "completions") : resolved;
  return {
    reading: {
      options: engineOptions,
      key: key === undefined ? () => undefined : ofItem(key as OfRecord),
      scope: typeof scope === "function" ? ofItem(scope as OfRecord) : "public",
      whenKeyMissing: "reject",
      keyMissing:
        "no idempotency key: `key` returned none for this record; leave `key` out to use the key in the envelope",
    } as CallReading<Write>,
    hasKey: key !== undefined,
    partsOf,
    whenKeyExpired: given.whenKeyExpired,
    whileUnhidden:
      given.whenInProgress === undefined ? { ...engineOptions, ...UNTIL_THE_LEASE_ENDS } : engineOptions,
    concurrency: concurrency ?? concurrencyOf(resolved.store),
    deadlineMarginMs,
    trustedForwarders,
    reportBatchItemFailures,
    acknowledgesFinalErrors: whenFinalError === "acknowledge",
    changeVisibility,
    claimCheck,
    onRecordError: onRecordError ? reporterOf(onRecordError as OfError) : logOf(resolved.operation),
  };
}

type OfError = (error: unknown, record: unknown) => void;
const reporterOf =
  (onRecordError: OfError): OfError =>
  (error, item) =>
    onRecordError(error, (item as BatchItem).record);

/** Names the record, because errors seldom do, and shows none of its content. */
const logOf = (operation: string) => (error: unknown, item: BatchItem) =>
  console.error(`onceonly: ${nameOf(item)} failed (operation "${operation}"):`, error);

/** DynamoDB may refuse permissions to a group that each member has. Separate requests cost more, so this is reported. */
function withGroups<Write>(
  options: ResolvedOptions<Write>,
  completionsWait: boolean,
): ResolvedOptions<Write> {
  const { clock, observe, operation } = options;
  const onRefused = (error: unknown) =>
    reportDecision(observe, { operation }, { decision: "group-refused", durationMs: 0, error });
  return { ...options, store: groupedStore(options.store, { clock, completionsWait, onRefused }) };
}
