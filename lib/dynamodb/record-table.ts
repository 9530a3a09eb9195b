/** A table that holds records: its attribute names, the item of a record, and the changes at each stage. No I/O. */
import type { AttributeValue, Put, Update } from "@aws-sdk/client-dynamodb";
import { ATTRIBUTES, RECORD_VERSION, UNSETTLED_SHARDS } from "../contract.ts";
import { RecordCorruptError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";
import { type IdempotencyRecord, STATES, type StoredResult } from "../core/record.ts";
import type { Claim, Effects, Insertion, Renewal, Settlement } from "../core/store.ts";
import type { TableOptions } from "./options.ts";
import { readSteps } from "./read-steps.ts";
import type { Item } from "./values.ts";
import { readText } from "./values.ts";

export type Attribute = keyof typeof ATTRIBUTES;

/** Attribute values, keyed by their name in the contract. */
export type Values = { readonly [name in Attribute]?: string | number | Uint8Array | undefined };

/**
 * Those of our names that DynamoDB reserves. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ReservedWords.html
 */
const RESERVED: ReadonlySet<string> = new Set(["state", "token", "result"]);

/** There is no record. */
const ABSENT = "attribute_not_exists(#partitionKey)";

export type RecordTable = ReturnType<typeof recordTable>;

export function recordTable(options: TableOptions) {
  const { tableName, partitionKey, sortKey, ttlAttribute } = options;
  const TableName = tableName as string;
  /** The attribute names in this table. */
  const names: Readonly<Record<Attribute, string>> = {
    ...ATTRIBUTES,
    partitionKey: partitionKey ?? ATTRIBUTES.partitionKey,
    expiresAt: ttlAttribute ?? ATTRIBUTES.expiresAt,
  };

  /** Values that are `undefined` are left out. */
  const itemOf = (values: Values): Item => {
    const item: Item = {};
    for (const name in values) {
      const value = values[name as Attribute];
      if (value !== undefined) item[names[name as Attribute]] = attributeOf(value);
    }
    if (sortKey) item[sortKey.name] = { S: sortKey.value };
    return item;
  };

  const keyOf = (partitionKey: string) => itemOf({ partitionKey });

  /**
   * Uses the attributes' real names. Aliases are only for names that DynamoDB reserves, and for the caller's names, which could
   * mean anything in an expression.
   */
  const prepareCondition = (...expressions: readonly string[]) => {
    const aliases: Record<string, string> = {};
    const [ConditionExpression, UpdateExpression] = expressions.map((expression) =>
      expression.replace(/#(\w+)/g, (alias, attribute: Attribute) => {
        const name = names[attribute];
        if (name === ATTRIBUTES[attribute] && !RESERVED.has(attribute)) return name;
        aliases[alias] = name;
        return alias;
      }),
    );
    const hasAliases = Object.keys(aliases).length > 0;
    return {
      ConditionExpression,
      ...(UpdateExpression && { UpdateExpression }),
      ...(hasAliases && { ExpressionAttributeNames: aliases }),
    };
  };

  /** Expressions already prepared, keyed by the attributes that they set, remove and check: a store has only a handful. */
  const prepared = new Map<string, Pick<Update, "UpdateExpression"> & ReturnType<typeof prepareCondition>>();

  const prepare = (condition: string, values: Values) => {
    const all = Object.entries(values);
    const assigned = all.flatMap(([name, value]) => (value === undefined ? [] : name));
    const removed = all.flatMap(([name, value]) => (value === undefined ? name : []));
    const set = assigned.length > 0 ? `SET ${assigned.map((name) => `#${name} = :${name}`)} ` : "";
    const remove = removed.length > 0 ? `REMOVE ${removed.map((name) => `#${name}`)}` : "";
    return { UpdateExpression: "", ...prepareCondition(condition, set + remove) };
  };

  const absent = prepareCondition(ABSENT);

  /**
   * Sets the values that are given, and removes those that are `undefined`. `bound` must be exactly the values that
   * `ConditionExpression` uses: DynamoDB refuses unused ones.
   */
  const updateOf = (
    recordKey: string,
    ConditionExpression: string,
    values: Values,
    bound: Readonly<Record<string, string | number>>,
  ): Update => {
    const ExpressionAttributeValues: Item = {};
    for (const name in bound) ExpressionAttributeValues[`:${name}`] = attributeOf(bound[name]!);
    let shape = ConditionExpression;
    for (const name in values) {
      const value = values[name as Attribute];
      shape += value === undefined ? ` -${name}` : ` +${name}`;
      if (value !== undefined) ExpressionAttributeValues[`:${name}`] = attributeOf(value);
    }
    let expressions = prepared.get(shape);
    if (expressions === undefined) {
      expressions = prepare(ConditionExpression, values);
      prepared.set(shape, expressions);
    }
    return {
      TableName,
      Key: keyOf(recordKey),
      ...expressions,
      ExpressionAttributeValues,
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    };
  };

  return { TableName, names, absent, itemOf, keyOf, updateOf };
}

function attributeOf(value: string | number | Uint8Array): AttributeValue {
  if (typeof value === "string") return { S: value };
  return typeof value === "number" ? { N: `${value}` } : { B: value };
}

/** The record hasn't been claimed, finished or renewed since it was seen. */
const STILL_SEEN = "#token = :seenToken AND #state = :seenState AND #leaseEndsAt = :seenLeaseEndsAt";

/** The claim is mine and I have not finished. */
export const MINE = "#token = :token AND #state = :inProgress";

/** Attributes that only a finished record has. */
export const UNFINISHED = {
  result: undefined,
  resultItem: undefined,
  resultBytes: undefined,
  completedAt: undefined,
};

/** Removes a record from the index of unsettled ones. */
const UNLISTED = { unsettledShard: undefined, unsettledSince: undefined };

/** Puts a record into that index. */
export function listedSince(recordKey: string, unsettledSince: number): Values {
  const hash = Buffer.from(hashTuple(recordKey), "base64url");
  return { unsettledShard: hash.readUInt32BE() % UNSETTLED_SHARDS, unsettledSince };
}

/** A record without expiry may be held, so an operator must be able to find it. */
export function claimValues({ recordKey, leaseEndsAt, expiresAt }: Claim): Values {
  return {
    state: "in-progress",
    leaseEndsAt,
    ...(expiresAt === undefined && listedSince(recordKey, leaseEndsAt)),
  };
}

type ClaimBeginning = Omit<Claim, "leaseEndsAt"> | Omit<Insertion, keyof Effects>;

/** Creates the record. Every first call begins with this request, so it contains no more than it must. */
export function firstPut(table: RecordTable, beginning: ClaimBeginning, values: Values): Put {
  return {
    TableName: table.TableName,
    Item: table.itemOf({ partitionKey: beginning.recordKey, ...begun(beginning), ...PLAIN, ...values }),
    ...table.absent,
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  };
}

/** Gives the record that was seen to this token. */
export function takeOver(
  table: RecordTable,
  beginning: ClaimBeginning,
  values: Values,
  seen: IdempotencyRecord,
): Update {
  const { recordKey, keepsSteps } = beginning;
  const all = {
    ...UNFINISHED,
    ...(!keepsSteps && { steps: undefined, stepItems: undefined, evidence: undefined, ...PLAIN }),
    // A function with `"run"` takes over what another one would have held.
    ...(seen.expiresAt === undefined && beginning.expiresAt !== undefined && UNLISTED),
    ...begun(beginning),
    ...values,
  };
  return table.updateOf(recordKey, STILL_SEEN, all, {
    seenToken: seen.token,
    seenState: seen.state,
    seenLeaseEndsAt: seen.leaseEndsAt,
  });
}

function begun({ token, fingerprint, attempt, createdAt, expiresAt }: ClaimBeginning): Values {
  return { token, fingerprint, attempt, createdAt, expiresAt };
}

/** Same as core's `versionOf` for a record without steps. A record that keeps or had steps keeps its version. */
const PLAIN: Values = { version: RECORD_VERSION };

export function settleChange(
  table: RecordTable,
  {
    recordKey,
    token,
    state,
    now,
    expiresAt,
    evidence,
    isListed,
    dropsSteps,
  }: Omit<Settlement, keyof Effects>,
  values: Values,
): Update {
  const settled = {
    ...UNFINISHED,
    ...(dropsSteps && { steps: undefined, ...PLAIN }),
    state,
    expiresAt,
    completedAt: state === "completed" || state === "failed" ? now : undefined,
    ...(evidence !== undefined && { evidence }),
    ...(state === "held" ? listedSince(recordKey, now) : isListed && UNLISTED),
    ...values,
  };
  return table.updateOf(recordKey, MINE, settled, { token, inProgress: "in-progress" });
}

/** A copy that arrives late finds a later lease, or an expiry that a step has removed. */
export function renewalChange(
  table: RecordTable,
  { recordKey, token, leaseEndsAt, expiresAt }: Renewal,
): Update {
  const condition = `${MINE} AND #leaseEndsAt <= :leaseEndsAt`;
  return table.updateOf(
    recordKey,
    expiresAt === undefined ? condition : `${condition} AND attribute_exists(#expiresAt)`,
    { leaseEndsAt, ...(expiresAt !== undefined && { expiresAt }) },
    { token, inProgress: "in-progress" },
  );
}

/**
 * `undefined` if there is no record: some engines answer with an empty item.
 * @throws RecordCorruptError (`RECORD_CORRUPT`)
 */
export function readRecord({ names }: RecordTable, item: Item = {}): IdempotencyRecord | undefined {
  if (!item[names.partitionKey]) return undefined;
  const recordKey = `${item[names.partitionKey]?.S}`;
  const value = (name: Attribute) => item[names[name]];
  const refuse = (name: Attribute): never => {
    throw new RecordCorruptError(`attribute ${name} is missing, has the wrong type or is out of range`);
  };
  const text = (name: Attribute) => value(name)?.S ?? refuse(name);
  const number = (name: Attribute) => {
    const read = Number(value(name)?.N ?? refuse(name));
    // A number that loses digits when it is read never equals the stored one, so no condition on it could hold.
    return Math.abs(read) <= Number.MAX_SAFE_INTEGER ? read : refuse(name);
  };
  const optional = <T>(name: Attribute, read: (name: Attribute) => T, field: string = name) =>
    value(name) && { [field]: read(name) };

  return {
    version: number("version"),
    state: STATES.find((state) => state === text("state")) ?? refuse("state"),
    token: text("token"),
    attempt: number("attempt"),
    leaseEndsAt: number("leaseEndsAt"),
    fingerprint: text("fingerprint"),
    createdAt: number("createdAt"),
    ...optional("completedAt", number),
    ...optional("expiresAt", number),
    ...optional("evidence", text),
    ...optional("steps", (name) =>
      readSteps(
        value(name) as AttributeValue,
        (address) => ownResult(recordKey, address),
        () => refuse(name),
      ),
    ),
    ...optional("result", (name): StoredResult => ({ in: "record", text: readText(value(name)) })),
    ...optional(
      "resultItem",
      (name): StoredResult => ({ in: "item", address: ownResult(recordKey, text(name)) }),
      "result",
    ),
    ...optional("resultBytes", (name): StoredResult => ({ in: "nowhere", bytes: number(name) }), "result"),
  };
}

/**
 * The address of a result, which begins with the key of its record. Otherwise, a writer with access to one tenant's records
 * could point one at another tenant's result, and a replay would return it.
 * @throws RecordCorruptError (`RECORD_CORRUPT`)
 */
export function ownResult(recordKey: string, address: string): string {
  if (address.startsWith(`${recordKey}#`)) return address;
  throw new RecordCorruptError("the record points to another record's result");
}
