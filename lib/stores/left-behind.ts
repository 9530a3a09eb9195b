/** What a move has not brought to the other store yet: reported, and brought there if asked. */
import { type Clock, systemClock } from "../core/clock.ts";
import { checkOptions, methods, oneOf } from "../core/option-checks.ts";
import { ENGINE_CHECKS, withDefaults } from "../core/options.ts";
import { isExpired, type State } from "../core/record.ts";
import type { Store } from "../core/store.ts";
import { isLease } from "../core/store-lease.ts";
import { bringRecord } from "./bring-record.ts";
import { combine, isOver, isSameStep } from "./pair.ts";

export interface LeftBehindOptions {
  readonly from: Store<never>;
  readonly to: Store<never>;
  /** The keys of the records in `from`, as the database lists them. A key that has no record there is passed over. */
  readonly recordKeys: Iterable<string> | AsyncIterable<string>;
  /**
   * Brings to `to` what can be brought. Results go along, messages do not. Only while no instance knows `from` alone.
   * @default false
   */
  readonly brings?: boolean;
  /** @default - the system's clock */
  readonly clock?: Clock;
}

export interface LeftBehind {
  readonly recordKey: string;
  readonly state: State;
  /**
   * `unknown-there`: `to` knows less of the key. `running`: its lease is live. `unsent`: the outbox of `from` has still to
   * send its messages. `unreadable`: a result is not kept or gone, or `to` refused it.
   */
  readonly why: "unknown-there" | "running" | "unsent" | "unreadable";
  /** Epoch seconds: from then on the record counts for nothing. Absent means never. */
  readonly expiresAt?: number | undefined;
}

/**
 * Reports each record of `from` that callers would miss if `to` stood alone. One that reports nothing allows the last stage
 * of a move. Costs two reads for each key.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`), StoreUnavailableError (`STORE_UNAVAILABLE`): call again;
 * RecordCorruptError (`RECORD_CORRUPT`).
 */
export async function* leftBehind(options: LeftBehindOptions): AsyncGenerator<LeftBehind> {
  const isList = (value: unknown) =>
    typeof value === "object" &&
    value !== null &&
    (Symbol.iterator in value || Symbol.asyncIterator in value);
  checkOptions(
    options,
    {
      from: ENGINE_CHECKS.store,
      to: ENGINE_CHECKS.store,
      recordKeys: ["must be a list, or an iterable, of record keys", isList],
      brings: oneOf(true, false),
      clock: methods("now", "sleep"),
    },
    ["from", "to", "recordKeys"],
  );
  const { from, to, recordKeys } = options;
  const { brings, clock } = withDefaults(options, { brings: false, clock: systemClock });
  for await (const recordKey of recordKeys) {
    const left = isLease(recordKey) ? undefined : await missing(from, to, recordKey, clock);
    if (!left) continue;
    const isTried = brings && left.why === "unknown-there";
    const isBrought = isTried && (await bringRecord({ from, to }, recordKey, clock.now()));
    const still = isBrought ? await missing(from, to, recordKey, clock) : left;
    if (still) yield isTried && !isBrought ? { ...still, why: "unreadable" } : still;
  }
}

async function missing(
  from: Store<never>,
  to: Store<never>,
  recordKey: string,
  clock: Clock,
): Promise<LeftBehind | undefined> {
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
