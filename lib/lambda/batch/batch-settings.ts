/** The options of a batch, checked, with their defaults, and turned from records to the items that hold them. */
import { LONGEST_INVOCATION_SECONDS } from "../../contract.ts";
import { tellObserver } from "../../core/decisions.ts";
import { MESSAGE_DEFAULTS } from "../../core/message-age.ts";
import { checkOptions } from "../../core/option-checks.ts";
import { type EngineOptions, withDefaults } from "../../core/options.ts";
import { type ResolvedOptions, resolveOptions } from "../../core/resolved-options.ts";
import { groupedStore } from "../../dynamodb/grouped-store.ts";
import type { CallReading } from "../face.ts";
import { BATCH_CHECKS, type BatchOptions } from "./batch-options.ts";
import type { Forwarders } from "./forwarders.ts";
import { type BatchItem, nameOf } from "./item.ts";

export interface BatchSettings<Write> {
  readonly reading: CallReading<Write>;
  /** The options have a `key`: then no other key stands in for a key that is missing. */
  readonly hasKey: boolean;
  /** What the user chose for messages that are older than the retention. */
  readonly whenKeyExpired: BatchOptions["whenKeyExpired"];
  /** For records that nothing can hide until another attempt's lease has ended. */
  readonly whileUnhidden: ResolvedOptions<Write>;
  readonly concurrency: number;
  readonly marginMs: number | undefined;
  readonly forwardedBy: Forwarders | undefined;
  readonly reportBatchItemFailures: boolean | undefined;
  readonly acknowledgesFinalErrors: boolean;
  readonly changeVisibility: BatchOptions["changeVisibility"];
  readonly bodies: BatchOptions["bodies"];
  readonly onRecordError: (error: unknown, item: BatchItem) => void;
}

/** As long as an invocation lasts; the batch's own time ends the wait before, and its `concurrency` bounds the waiters. */
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
  const { key, scope, fingerprint, concurrency, marginMs, whenFinalError, ...rest } = options;
  const { changeVisibility, bodies, forwardedBy, groups = true, onRecordError, ...others } = rest;
  const { reportBatchItemFailures, ...given } = others;
  const fingerprints = fingerprint === undefined ? (item: BatchItem) => item.body : [fingerprint].flat();
  const resolved = resolveOptions({
    ...withDefaults(given, MESSAGE_DEFAULTS),
    fingerprint: Array.isArray(fingerprints)
      ? fingerprints.map((each) => ofItem(each as OfRecord))
      : fingerprints,
  } as EngineOptions<Write>);
  const engineOptions = groups ? withGroups(resolved, groups === "completions") : resolved;
  return {
    reading: {
      options: engineOptions,
      key: key === undefined ? () => undefined : ofItem(key as OfRecord),
      scope: typeof scope === "function" ? ofItem(scope as OfRecord) : "public",
      whenKeyMissing: "reject",
      keyMissing:
        "no idempotency key: `key` yielded none for this record; leave `key` out to go by the envelope",
    } as CallReading<Write>,
    hasKey: key !== undefined,
    whenKeyExpired: given.whenKeyExpired,
    whileUnhidden:
      given.whenInProgress === undefined ? { ...engineOptions, ...UNTIL_THE_LEASE_ENDS } : engineOptions,
    concurrency: concurrency ?? 10,
    marginMs,
    forwardedBy,
    reportBatchItemFailures,
    acknowledgesFinalErrors: whenFinalError === "acknowledge",
    changeVisibility,
    bodies,
    onRecordError: onRecordError ? tellOf(onRecordError as OfError) : logOf(resolved.operation),
  };
}

type OfError = (error: unknown, record: unknown) => void;
const tellOf =
  (onRecordError: OfError): OfError =>
  (error, item) =>
    onRecordError(error, (item as BatchItem).record);

/** Names the record, since an error seldom does, and shows nothing of its content. */
const logOf = (operation: string) => (error: unknown, item: BatchItem) =>
  console.error(`onceonly: ${nameOf(item)} is not done (operation "${operation}"):`, error);

/** DynamoDB may refuse a group a right that each member has. Asking one by one costs requests, and is told. */
function withGroups<Write>(
  options: ResolvedOptions<Write>,
  completionsWait: boolean,
): ResolvedOptions<Write> {
  const { clock, observe, operation } = options;
  const onRefused = (error: unknown) =>
    tellObserver(observe, { operation }, { decision: "group-refused", durationMs: 0, error });
  return { ...options, store: groupedStore(options.store, { clock, completionsWait, onRefused }) };
}
