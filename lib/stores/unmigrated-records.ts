/** Reports the records that a move has not copied to the other store yet, and copies them on request. */
import { type Clock, systemClock } from "../core/clock.ts";
import { checkOptions, methods, oneOf } from "../core/option-checks.ts";
import { ENGINE_CHECKS } from "../core/options.ts";
import { isExpired, type State } from "../core/record.ts";
import type { Store } from "../core/store.ts";
import { isLease } from "../core/store-lease.ts";
import { withDefaults } from "../core/with-defaults.ts";
import { migrateRecord } from "./migrate-record.ts";
import { combine, isOver, isSameStep } from "./pair.ts";

export interface UnmigratedRecordsOptions {
  readonly from: Store<never>;
  readonly to: Store<never>;
  /** The keys of the records in `from`, as the database lists them. A key without a record there is skipped. */
  readonly recordKeys: Iterable<string> | AsyncIterable<string>;
  /**
   * Also copies to `to` whatever can be copied: results are included, messages are not. Use it only while no instance knows just
   * `from`.
   * @default false
   */
  readonly migrate?: boolean;
  /** @default - the system's clock */
  readonly clock?: Clock;
}

export interface UnmigratedRecord {
  readonly recordKey: string;
  readonly state: State;
  /**
   * `unknown-there`: `to` knows less about the key. `running`: its lease is live. `unsent`: the outbox of `from` still has to
   * send its messages. `unreadable`: a result was not kept or is gone, or `to` refused it.
   */
  readonly why: "unknown-there" | "running" | "unsent" | "unreadable";
  /** Epoch seconds: from then on the record is ignored. Absent means never. */
  readonly expiresAt?: number | undefined;
}

/**
 * Reports each record of `from` that callers would miss with `to` as the only store. When it reports nothing, you can do the
 * last stage of a move. Costs two reads per key.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`), StoreUnavailableError (`STORE_UNAVAILABLE`): call again;
 * RecordCorruptError (`RECORD_CORRUPT`).
 */
export async function* unmigratedRecords(
  options: UnmigratedRecordsOptions,
): AsyncGenerator<UnmigratedRecord> {
  const isList = (value: unknown) =>
    typeof value === "object" &&
    value !== null &&
    (Symbol.iterator in value || Symbol.asyncIterator in value);
  checkOptions(
    options,
    {
      from: ENGINE_CHECKS.store,
      to: ENGINE_CHECKS.store,
      recordKeys: ["must be an array or another iterable of record keys", isList],
      migrate: oneOf(true, false),
      clock: methods("now", "sleep"),
    },
    ["from", "to", "recordKeys"],
  );
  const { from, to, recordKeys } = options;
  const { migrate, clock } = withDefaults(options, { migrate: false, clock: systemClock });
  for await (const recordKey of recordKeys) {
    const left = isLease(recordKey) ? undefined : await missing(from, to, recordKey, clock);
    if (!left) continue;
    const isTried = migrate && left.why === "unknown-there";
    const isBrought = isTried && (await migrateRecord({ from, to }, recordKey, clock.now()));
    const still = isBrought ? await missing(from, to, recordKey, clock) : left;
    if (still) yield isTried && !isBrought ? { ...still, why: "unreadable" } : still;
  }
}

async function missing(
  from: Store<never>,
  to: Store<never>,
  recordKey: string,
  clock: Clock,
): Promise<UnmigratedRecord | undefined> {
  const record = await from.find(recordKey, { consistent: true });
  const now = clock.now();
  if (!record || isExpired(record, now)) return undefined;
  const { state, expiresAt } = record;
  const left = { recordKey, state, expiresAt };
  if (isOver(record) && expiresAt === undefined) return { ...left, why: "unsent" };
  const there = await to.find(recordKey, { consistent: true });
  const known = combine({ from: record, to: there }, { leader: "to", now });
  const all = Object.entries(known?.record.steps ?? {});
  const isKnown = known?.side === "to" && all.every(([name, step]) => isSameStep(there?.steps?.[name], step));
  if (isKnown) return undefined;
  const isLive = state === "in-progress" && record.leaseEndsAt >= now;
  return { ...left, why: isLive ? "running" : "unknown-there" };
}
