/** Combines the records that two stores have under one key. No I/O. */
import {
  type IdempotencyRecord,
  isClaimOf,
  isExpired,
  type StoredStep,
  type StoredSteps,
} from "../core/record.ts";
import type { Store } from "../core/store.ts";

/** The store you move from, or the one you move to. */
export type Side = "from" | "to";

export type Stores = Readonly<Record<Side, Store>>;

export type Pair = Readonly<Record<Side, IdempotencyRecord | undefined>>;

export interface Reading {
  /** The store whose commits decide. */
  readonly leader: Side;
  /** Epoch ms. */
  readonly now: number;
  /** A claim with this token counts only if both stores have it. */
  readonly token?: string | undefined;
}

export interface Combined {
  /** The record that counts, with the steps of both. The address of a result begins with its side. */
  readonly record: IdempotencyRecord;
  /** The store that has the record. */
  readonly side: Side;
}

/** @returns `undefined` if neither store has a record that counts */
export function combine(pair: Pair, reading: Reading): Combined | undefined {
  const { leader, now } = reading;
  const { from, to } = withoutHalfClaim(pair, reading.token);
  const side = from && to ? chosen({ from, to }, leader, now) : from ? "from" : to ? "to" : undefined;
  if (side === undefined) return undefined;
  const record = { from, to }[side] as IdempotencyRecord;
  const other = side === "from" ? to : from;
  const { steps: _, result, ...rest } = record;
  // No attempt resumes a finished record.
  const isAlone = isOver(record) || isExpired(record, now);
  const steps = isAlone ? record.steps && named(side, record.steps) : stepsOf({ from, to }, now, leader);
  return {
    side,
    record: {
      ...rest,
      attempt: Math.max(record.attempt, other?.attempt ?? 0),
      // A step moves the lease's end in the leading store first.
      ...(other?.token === record.token &&
        other.state === record.state && { leaseEndsAt: Math.max(record.leaseEndsAt, other.leaseEndsAt) }),
      ...(steps && { steps }),
      ...(result && { result: resultAt(side, result) }),
    },
  };
}

/**
 * The steps of both: the later one of two with the same name. If both have the same step, the leader's counts, because the
 * leader has reported whether it keeps the result. Expired ones don't count.
 */
export function stepsOf(pair: Partial<Pair>, now: number, leader: Side = "from"): StoredSteps | undefined {
  const steps: Record<string, StoredStep> = {};
  for (const side of [leader, leader === "from" ? "to" : "from"] as const) {
    const record = pair[side];
    if (!record || isExpired(record, now)) continue;
    for (const [name, step] of Object.entries(named(side, record.steps ?? {}))) {
      const known = steps[name];
      if (!known || isLater(step, known)) steps[name] = step;
    }
  }
  return Object.keys(steps).length > 0 ? steps : undefined;
}

export function isSameStep(one: StoredStep | undefined, other: StoredStep | undefined): boolean {
  return one?.state === other?.state && one?.attempt === other?.attempt && one?.at === other?.at;
}

/** Removes the side from the address of a result. */
export function sideOf(address: string): { readonly side: Side; readonly address: string } {
  const at = address.indexOf(":");
  return { side: address.slice(0, at) as Side, address: address.slice(at + 1) };
}

/** Whether the record is the one that a caller saw: every store makes this comparison. */
export function isStill(record: IdempotencyRecord | undefined, seen: IdempotencyRecord | undefined): boolean {
  return (
    record?.token === seen?.token &&
    record?.state === seen?.state &&
    record?.leaseEndsAt === seen?.leaseEndsAt
  );
}

export function isOver({ state }: IdempotencyRecord): boolean {
  return state === "completed" || state === "failed";
}

/** A call that has claimed in only one store doesn't run. */
function withoutHalfClaim({ from, to }: Pair, token: string | undefined): Partial<Pair> {
  if (token === undefined || from?.token === to?.token) return { from, to };
  return {
    from: isClaimOf(from, token) ? undefined : from,
    to: isClaimOf(to, token) ? undefined : to,
  };
}

function chosen(pair: Record<Side, IdempotencyRecord>, leader: Side, now: number): Side {
  /** The only side for which `holds` is true. */
  const only = (holds: (record: IdempotencyRecord) => boolean): Side | undefined => {
    const [from, to] = [holds(pair.from), holds(pair.to)];
    return from === to ? undefined : from ? "from" : "to";
  };
  const isLive = (record: IdempotencyRecord) => record.state === "in-progress" && record.leaseEndsAt >= now;
  const isSameAttempt = pair.from.token === pair.to.token;
  return (
    only((record) => !isExpired(record, now)) ??
    // A replay is always safe.
    only(isOver) ??
    // The end of an attempt that the other store hasn't been updated with.
    (isSameAttempt ? only((record) => record.state !== "in-progress") : undefined) ??
    // No attempt runs next to a live claim.
    only(isLive) ??
    only(({ attempt }) => attempt >= Math.max(pair.from.attempt, pair.to.attempt)) ??
    leader
  );
}

function isLater(step: StoredStep, other: StoredStep): boolean {
  return step.attempt === other.attempt ? step.at > other.at : step.attempt > other.attempt;
}

const named = (side: Side, steps: StoredSteps): StoredSteps =>
  Object.fromEntries(
    Object.entries(steps).map(([name, step]) => [
      name,
      step.result ? { ...step, result: resultAt(side, step.result) } : step,
    ]),
  );

export function resultAt<Result extends NonNullable<IdempotencyRecord["result"]>>(
  side: Side,
  result: Result,
): Result {
  return result.in === "item" ? { ...result, address: `${side}:${result.address}` } : result;
}
