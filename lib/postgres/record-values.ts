/** The column values that statements write for a record. No I/O. */
import { OUTBOX_SHARDS, RECORD_VERSION } from "../contract.ts";
import { hashTuple } from "../core/identity.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { type IdempotencyRecord, isTracked, type State } from "../core/record.ts";
import type { Claim, Effects, Insertion, Settlement, StepChange } from "../core/store.ts";
import { bytesInJson, type Room, roomForResult, storedMessages } from "./room.ts";
import type { SqlValue } from "./sql-client.ts";

/** The columns of a record that a claim or an insertion writes. */
export const COLUMNS = [
  "pk",
  "version",
  "state",
  "token",
  "attempt",
  "lease_ends_at",
  "fingerprint",
  "created_at",
  "settled_at",
  "expires_at",
  "result",
  "lost_bytes",
  "messages",
  "unsent_shard",
  "due_at",
  "expires_once_sent",
  "evidence",
] as const;

export type ColumnValues = Readonly<Record<(typeof COLUMNS)[number], SqlValue>>;

export function columnsOfBeginning(
  beginning: Claim | Insertion<unknown>,
  state: State,
  room: Room,
  seen: IdempotencyRecord | undefined,
): ColumnValues {
  const { recordKey, token, attempt, fingerprint, createdAt } = beginning;
  const end = "now" in beginning ? beginning : undefined;
  const { expires_at, bytes, ...sending } = columnsOfMessages({ messages: [], now: 0, ...beginning }, room);
  const kept = beginning.keepsSteps ? seen : undefined;
  return {
    pk: recordKey,
    version: RECORD_VERSION,
    state,
    token,
    attempt,
    lease_ends_at: "now" in beginning ? beginning.now : beginning.leaseEndsAt,
    fingerprint,
    created_at: createdAt,
    settled_at: end?.now ?? null,
    expires_at,
    ...columnsOfResult(end, end ? roomForResult(room, bytes, kept) : 0),
    ...sending,
    evidence: end?.evidence ?? null,
  };
}

/** @param seen the record, if it may have steps that stay */
export function columnsOfSettlement(
  settlement: Settlement<unknown> | Insertion<unknown>,
  room: Room,
  seen: IdempotencyRecord | undefined,
) {
  const { recordKey, token, state, now, evidence = null } = settlement;
  const { bytes, ...sending } = columnsOfMessages(settlement, room);
  return {
    pk: recordKey,
    token,
    state,
    settled_at: now,
    ...columnsOfResult(settlement, roomForResult(room, bytes, seen)),
    evidence,
    keepsSteps: !("dropsSteps" in settlement && settlement.dropsSteps),
    ...sending,
  };
}

/** The waiting messages, and since when they wait. Their record doesn't expire before they are sent. */
function columnsOfMessages(
  {
    messages,
    now,
    expiresAt = null,
  }: Pick<Effects, "messages"> & Pick<Settlement, "now"> & { readonly expiresAt?: SqlValue | undefined },
  room: Room,
) {
  const [first] = messages;
  if (!first) {
    const none = { messages: null, unsent_shard: null, due_at: null, expires_once_sent: null };
    return { expires_at: expiresAt, ...none, bytes: 0 };
  }
  const { text, bytes } = storedMessages(messages, room);
  const waiting = { messages: text, unsent_shard: shardOf(first), due_at: now };
  return { expires_at: null, ...waiting, expires_once_sent: expiresAt, bytes };
}

/** Ordered messages are found in the order of their commits. */
function shardOf({ group, key }: StoredMessage): number {
  return hashTuple(group ?? key).charCodeAt(0) % OUTBOX_SHARDS;
}

/** The values of a step. Its result is in its entry, in a separate place, or lost if the table has no room for it. */
export function valuesOfStep(
  { recordKey, token, name, step, result, seen, isFirst }: StepChange<unknown>,
  room: Room,
) {
  const { result: text, lost_bytes: lostBytes } = columnsOfResult({ result }, room.result);
  const isApart = text !== null && text.length > room.inStep;
  const apart = isApart ? stepResultKey(name, step) : null;
  const entry = { ...step, result: isApart ? undefined : (text ?? undefined), apart, lostBytes };
  return {
    pk: recordKey,
    token,
    name,
    entry: JSON.stringify(entry),
    ...addedBy(name, step, text, entry, room),
    resultKey: apart,
    formerKey: seen ? stepResultKey(name, seen) : null,
    result: apart && text,
    isListed: isTracked({ steps: { step } }),
    isFirst,
    seenState: seen?.state ?? null,
    seenAttempt: seen?.attempt ?? null,
    seenAt: seen?.at ?? null,
  };
}

/** For a row whose size is limited: how many bytes the result adds, and the entry without it. */
function addedBy(
  name: string,
  step: StepChange["step"],
  text: string | null,
  entry: { readonly apart: string | null },
  room: Room,
) {
  if (text === null || room.row === Number.POSITIVE_INFINITY)
    return { withoutResult: null, addedBytes: null };
  return {
    withoutResult: JSON.stringify({ ...step, lostBytes: Buffer.byteLength(text) }),
    addedBytes: bytesInJson(entry.apart === null ? { [name]: entry } : { [entry.apart]: text }),
  };
}

/** Identifies each write of a step: the value under a key never changes. */
function stepResultKey(name: string, { attempt, at }: StepChange["step"]): string {
  return `${attempt}/${at}/${name}`;
}

/** A result that doesn't fit is replaced by its size. */
function columnsOfResult(
  { result }: { readonly result?: string | undefined } = {},
  most: number,
): { readonly result: string | null; readonly lost_bytes: number | null } {
  if (result === undefined) return { result: null, lost_bytes: null };
  const bytes = Buffer.byteLength(result);
  return bytes <= most ? { result, lost_bytes: null } : { result: null, lost_bytes: bytes };
}
