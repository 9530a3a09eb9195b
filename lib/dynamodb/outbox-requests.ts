/** Requests of an outbox: finds its records, reads them completely, changes them conditionally. */
import type { QueryInput, TransactWriteItem, Update, UpdateItemInput } from "@aws-sdk/client-dynamodb";
import { parkedShard, RECORD_VERSIONS } from "../contract.ts";
import { RecordCorruptError } from "../core/errors.ts";
import type { MessageProgress, SweepLease, Taking, Unsent } from "../core/messages/outbox.ts";
import type { Connection } from "./connection.ts";
import { messageItemKey } from "./placement.ts";
import type { RecordTable, Values } from "./record-table.ts";
import { explained, type Sent, type SparseIndex, send } from "./send.ts";
import { queryIndex } from "./sparse-index.ts";
import { type Item, toItem } from "./values.ts";
import { deliveryText, readWaiting, type WaitingRecord, withMessages } from "./waiting-record.ts";

export type Complete = WaitingRecord & Unsent;

export class OutboxRequests {
  readonly #table: RecordTable;
  readonly #index: SparseIndex;
  readonly #connection: Connection;

  constructor(table: RecordTable, indexName: string, connection: Connection) {
    this.#table = table;
    this.#index = { name: indexName, shard: "unsentShard", since: "unsentSince" };
    this.#connection = connection;
  }

  update(change: UpdateItemInput): Promise<Sent<"UpdateItem">> {
    return send(this.#connection, "UpdateItem", change);
  }

  /** The first request of a sweep: it also finds out whether the table is set up as required. */
  async lease(lease: SweepLease): Promise<boolean> {
    const answer = this.update(leaseChange(this.#table, lease));
    const { refusedBy } = await explained(this.#table, this.#index, answer);
    return !refusedBy;
  }

  /** Whether the condition of the first write held. */
  async apply(Update: Update, others: readonly TransactWriteItem[]): Promise<boolean> {
    const { refusedBy } =
      others.length > 0
        ? await send(this.#connection, "TransactWriteItems", { TransactItems: [{ Update }, ...others] })
        : await this.update(Update);
    return !refusedBy;
  }

  query(shard: number, before: number, more: Partial<QueryInput>): AsyncGenerator<Sent<"Query">> {
    return queryIndex(this.#connection, this.#table, this.#index, shard, before, more);
  }

  /** The record with its messages, wherever they are stored. */
  async complete(record: WaitingRecord | undefined): Promise<Complete | undefined> {
    if (!record || record.messages) return record as Complete | undefined;
    const { recordKey, token, messageItems } = record;
    const keys = messageItemKeys(recordKey, token, messageItems);
    const items = await Promise.all(keys.map((key) => this.get(key)));
    const { messages } = this.#table.names;
    if (items.every(Boolean))
      return withMessages(
        record,
        items.map((item) => item?.[messages]?.S),
      ) as Complete;
    // They were sent between the two reads, or they are lost.
    if (!readWaiting(this.#table, await this.get(recordKey))) return undefined;
    throw new RecordCorruptError("items with outgoing messages are missing");
  }

  async get(key: string): Promise<Item | undefined> {
    const { TableName, keyOf } = this.#table;
    const input = { TableName, Key: keyOf(key), ConsistentRead: true };
    const answer = await explained(this.#table, this.#index, send(this.#connection, "GetItem", input));
    return answer.Item;
  }
}

/** No other sweep holds the outbox. */
const LEASABLE = "attribute_not_exists(#sendingUntil) OR #sendingUntil <= :now OR #sender = :sender";

/** The commit under this token still has messages to send. */
const STILL_UNSENT = "#token = :token AND attribute_exists(#unsentSince)";

interface AsSeen {
  readonly condition: string;
  readonly bound: Readonly<Record<string, string | number>>;
}

/** As above, and unchanged since it was seen: its progress, its sender, and for an operator's action also its evidence. */
function unsentAsSeen(seen: WaitingRecord, isActing: boolean): AsSeen {
  const { token, delivery, sendingUntil, evidence } = seen;
  const all = { delivery, sendingUntil, ...(isActing && { evidence }) };
  let condition = STILL_UNSENT;
  const bound: Record<string, string | number> = { token };
  for (const [name, value] of Object.entries(all)) {
    condition +=
      value === undefined ? ` AND attribute_not_exists(#${name})` : ` AND #${name} = :seen_${name}`;
    if (value !== undefined) bound[`seen_${name}`] = value;
  }
  return { condition, bound };
}

/** The versions that this code knows, keyed by their placeholder in a condition. */
const VERSIONS: Readonly<Record<string, number>> = Object.fromEntries(
  RECORD_VERSIONS.map((version) => [`version${version}`, version]),
);
const KNOWN = Object.keys(VERSIONS)
  .map((name) => `:${name}`)
  .join(", ");

/**
 * The record has messages to send, its version is one that this code knows, and not all of its messages are parked. They are
 * due; a sweep also requires the due time that it found. No sender has taken the record, or its time is over. A relay may ignore
 * an earlier relay, which must be gone: a stream has one relay at a time.
 */
const freeFor = (isRelay: boolean, isFound: boolean): string =>
  `attribute_exists(#unsentSince) AND #version IN (${KNOWN}) AND #unsentShard >= :zero AND #unsentSince <= :now` +
  (isFound ? " AND #unsentSince = :dueAt" : "") +
  ` AND (attribute_not_exists(#sendingUntil) OR #sendingUntil <= :now${isRelay ? " OR begins_with(#sender, :relay)" : ""})`;

/** Senders would find it, and its version is known to this code, or missing. */
const PARKABLE =
  "attribute_exists(#unsentSince) AND #unsentShard >= :zero AND " +
  `(attribute_not_exists(#version) OR #version IN (${KNOWN}) OR NOT attribute_type(#version, :number))`;

/** No sender has it any more. */
const GIVEN_BACK = { sendingUntil: undefined, sender: undefined };

const RELAY = "relay/";

/** The sender, as the record stores it. */
export function senderOf({ by, id }: Pick<Taking, "by" | "id">): string {
  return `${by}/${id}`;
}

export function takeChange(
  table: RecordTable,
  recordKey: string,
  { by, id, now, until, dueAt }: Taking,
): Update {
  const { names, TableName, keyOf } = table;
  return {
    TableName,
    Key: keyOf(recordKey),
    ConditionExpression: freeFor(by === "relay", dueAt !== undefined),
    UpdateExpression: "SET #sendingUntil = :until, #sender = :sender",
    ExpressionAttributeNames: {
      "#unsentSince": names.unsentSince,
      "#unsentShard": names.unsentShard,
      "#version": names.version,
      "#sendingUntil": names.sendingUntil,
      "#sender": names.sender,
    },
    ExpressionAttributeValues: toItem({
      ...Object.fromEntries(Object.entries(VERSIONS).map(([name, version]) => [`:${name}`, version])),
      ":zero": 0,
      ":now": now,
      ":until": until,
      ":sender": senderOf({ by, id }),
      ":relay": by === "relay" ? RELAY : undefined,
      ":dueAt": dueAt,
    }),
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  };
}

/**
 * Applies only if no other sender has changed or taken the commit since it was read. Set `isGivenBack` if the reader had taken
 * it.
 */
export function keepChange(
  table: RecordTable,
  seen: WaitingRecord,
  progress: readonly MessageProgress[],
  dueAt: number,
  isGivenBack: boolean,
  act: Values = {},
): Update {
  const { recordKey, shard: where } = seen;
  const shard = where < 0 ? parkedShard(where) : where;
  const waits = progress.some(({ state }) => state === "waiting");
  const values = {
    delivery: deliveryText(progress),
    unsentShard: waits ? shard : parkedShard(shard),
    unsentSince: dueAt,
    // A record does not expire before its messages are sent.
    expiresAt: undefined,
    ...(isGivenBack && GIVEN_BACK),
    ...act,
  };
  const { condition, bound } = unsentAsSeen(seen, "evidence" in act);
  return table.updateOf(recordKey, condition, values, bound);
}

/**
 * First the record's change; then its message items are deleted, and its result gets the same expiry. An operator's action is
 * applied only if no other sender has changed or taken the commit since it was read.
 */
export function markChanges(
  table: RecordTable,
  seen: WaitingRecord,
  progress: readonly MessageProgress[] | undefined,
  act?: Values,
): readonly TransactWriteItem[] {
  const { recordKey, token, expiresOnceSent, messageItems, resultItem } = seen;
  const { TableName, updateOf, keyOf } = table;
  const sent = {
    expiresAt: expiresOnceSent,
    delivery: progress && deliveryText(progress),
    messages: undefined,
    messageItems: undefined,
    unsentShard: undefined,
    unsentSince: undefined,
    expiresOnceSent: undefined,
    ...GIVEN_BACK,
    ...act,
  };
  const { condition, bound } = act ? unsentAsSeen(seen, true) : { condition: STILL_UNSENT, bound: { token } };
  const Update = updateOf(recordKey, condition, sent, bound);
  const deletions = messageItemKeys(recordKey, token, messageItems).map((key) => ({
    Delete: { TableName, Key: keyOf(key) },
  }));
  const ofResult =
    resultItem && expiresOnceSent ? [{ Update: expiryOf(table, resultItem, expiresOnceSent) }] : [];
  return [{ Update }, ...deletions, ...ofResult];
}

/** Sets the expiry of an item, in epoch seconds. */
function expiryOf({ TableName, keyOf, names }: RecordTable, key: string, expiresAt: number): Update {
  return {
    TableName,
    Key: keyOf(key),
    UpdateExpression: "SET #expiresAt = :expiresAt",
    ExpressionAttributeNames: { "#expiresAt": names.expiresAt },
    ExpressionAttributeValues: { ":expiresAt": { N: `${expiresAt}` } },
  };
}

/** No record has this key: record keys begin with an operation. */
export const NOTES_KEY = "#outbox";

/** Only if the notes are still the previous ones. */
export function notesChange(table: RecordTable, former: string | undefined, notes: string): Update {
  const condition = former === undefined ? "attribute_not_exists(#notes)" : "#notes = :former";
  return table.updateOf(NOTES_KEY, condition, { notes }, former === undefined ? {} : { former });
}

/** A separate, small item: a refused write costs as much as the item weighs. */
const SWEEP_KEY = `${NOTES_KEY}/sweep`;

function leaseChange(table: RecordTable, { id, now, until }: SweepLease): Update {
  const sender = senderOf({ by: "sweeper", id });
  return table.updateOf(SWEEP_KEY, LEASABLE, { sender, sendingUntil: until }, { now });
}

/** An unreadable record has no token to check. */
export function parkChange(table: RecordTable, recordKey: string, now: number): Update {
  const values = { unsentShard: parkedShard(0), unsentSince: now, expiresAt: undefined, ...GIVEN_BACK };
  const bound = { ...VERSIONS, number: "N", zero: 0 };
  return table.updateOf(recordKey, PARKABLE, values, bound);
}

export function messageItemKeys(recordKey: string, token: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => messageItemKey(recordKey, token, index));
}
