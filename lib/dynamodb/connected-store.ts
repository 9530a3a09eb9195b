/** The DynamoDB store: every decision is one conditional write. All policy is in the engine. */
import type { Put, TransactWriteItem, TransactWriteItemsInput, Update } from "@aws-sdk/client-dynamodb";
import { CommitInvalidError, type StoreUnavailableError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";
import { type IdempotencyRecord, isClaimOf } from "../core/record.ts";
import type {
  Claim,
  ClaimAnswer,
  Effects,
  Insertion,
  RenewAnswer,
  Renewal,
  SettleAnswer,
  Settlement,
  StepChange,
  Store,
} from "../core/store.ts";
import type { UnknownOutcome } from "../core/unknown-outcome.ts";
import type { Connection } from "./connection.ts";
import { blameWrites } from "./invalid-writes.ts";
import { outboxShardsOf, type StoreOptions } from "./options.ts";
import { explainRefusal, placeMessages, placeResult } from "./placement.ts";
import {
  claimValues,
  firstPut,
  type RecordTable,
  readRecord,
  recordTable,
  renewalChange,
  settleChange,
  takeOver,
  type Values,
} from "./record-table.ts";
import { send } from "./send.ts";
import { stepChange } from "./step-change.ts";
import { listUnknownOutcomes } from "./unknown-outcomes.ts";
import { type Item, readText, sizeOf } from "./values.ts";
import { encodeInput } from "./wire/json.ts";
import { type DynamoDBWrite, marshallWrites } from "./writes.ts";

/** Each step write costs as much as all the steps together weigh, so a larger result gets a separate item. */
const AROUND_STEP_BYTES = 3072;

const NOTHING_PLACED = { items: [], bytes: 0 };

type Change = { readonly Put: Put } | { readonly Update: Update };

/** A DynamoDBStore over any connection. Its options are already checked. */
export class ConnectedStore implements Store<DynamoDBWrite> {
  readonly #options: StoreOptions;
  readonly #table: RecordTable;
  /** Number of shards in the outbox; 0 without an outbox. */
  readonly #shards: number;
  readonly #connection: Connection;
  /** @internal */
  readonly patienceMs: Store["patienceMs"];
  /** @internal */
  readonly patienceClock: Store["patienceClock"];
  /** The table has answered before. A table that doesn't exist is treated differently. */
  #isThere = false;

  constructor(
    options: StoreOptions,
    connection: Connection,
    { patienceMs, patienceClock }: Pick<Store, "patienceMs" | "patienceClock"> = {},
  ) {
    this.patienceMs = patienceMs;
    this.patienceClock = patienceClock;
    this.#options = options;
    this.#table = recordTable(options);
    this.#shards = outboxShardsOf(options.outbox);
    this.#connection = connection;
  }

  /** @internal The same store over a wrapped connection. */
  over(wrap: (connection: Connection, table: RecordTable) => Connection): Store<DynamoDBWrite> {
    return new ConnectedStore(this.#options, wrap(this.#connection, this.#table), this);
  }

  async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    const { recordKey } = claim;
    const values = claimValues(claim);
    try {
      const { refusedBy, serverTimeMs } = seen
        ? await send(this.#connection, "UpdateItem", takeOver(this.#table, claim, values, seen))
        : await send(this.#connection, "PutItem", firstPut(this.#table, claim, values));
      this.#isThere = true;
      if (refusedBy) return { won: false, record: readRecord(this.#table, refusedBy) };
      return { won: true, serverTimeMs };
    } catch (error) {
      if ((error as StoreUnavailableError).failure !== "conflict") throw error;
      // Another transaction on this record is under way, most likely the winner's commit. The record's current state is the right
      // answer: if it can be claimed, the next claim decides.
      return { won: false, record: await this.find(recordKey, { consistent: true }) };
    }
  }

  settle(settlement: Settlement<DynamoDBWrite>): Promise<SettleAnswer> {
    return this.#finish(settlement, (values) => ({ Update: settleChange(this.#table, settlement, values) }));
  }

  async renew(renewal: Renewal): Promise<RenewAnswer> {
    const change = renewalChange(this.#table, renewal);
    const { refusedBy } = await send(this.#connection, "UpdateItem", change);
    return refusedBy ? { renewed: false, record: readRecord(this.#table, refusedBy) } : { renewed: true };
  }

  async writeStep(change: StepChange<DynamoDBWrite>): Promise<SettleAnswer> {
    const { recordKey, name, step, token, resultExpiresAt: expiresAt } = change;
    const { values, item } = placeResult(
      this.#table,
      { ...change, token: `${token}/${name}/${step.at}`, expiresAt, messages: [] },
      AROUND_STEP_BYTES,
    );
    const others = marshallWrites(this.#table, change.writes, NOTHING_PLACED, recordKey);
    await this.#keepApart(item);
    const Update = stepChange(this.#table, change, values);
    const { refusedBy } = await this.#write({ Update }, others, others.length);
    const record = readRecord(this.#table, refusedBy);
    const there = isClaimOf(record, token) ? record?.steps?.[name] : undefined;
    const isWritten = there?.state === step.state && there.attempt === step.attempt && there.at === step.at;
    const lostBytes = values.resultBytes as number | undefined;
    return !refusedBy || isWritten ? { settled: true, lostBytes } : { settled: false, record };
  }

  async insert(insertion: Insertion<DynamoDBWrite>, seen?: IdempotencyRecord): Promise<SettleAnswer> {
    const { state, token, now, evidence } = insertion;
    const answer = await this.#finish(insertion, (placed) => {
      const values = {
        ...{ state, leaseEndsAt: now, completedAt: now, ...placed },
        ...(evidence && { evidence }),
      };
      return seen
        ? { Update: takeOver(this.#table, insertion, values, seen) }
        : { Put: firstPut(this.#table, insertion, values) };
    });
    if (answer.settled || !isClaimOf(answer.record, token)) return answer;
    // Our own claim, whose answer was lost, holds the record.
    return this.settle(insertion);
  }

  async find(
    recordKey: string,
    { consistent }: { consistent: boolean },
  ): Promise<IdempotencyRecord | undefined> {
    return readRecord(this.#table, await this.#get(recordKey, consistent));
  }

  async loadResult(address: string): Promise<string | undefined> {
    // The item at an address never changes, so the cheaper read can only miss it.
    const item = (await this.#get(address, false)) ?? (await this.#get(address, true));
    return item && readText(item[this.#table.names.result]);
  }

  checkEffects({ writes, messages }: Effects<DynamoDBWrite>): void {
    if (messages.length > 0 && this.#shards === 0) {
      throw new CommitInvalidError(
        "no relay would send the messages of this commit, because `outbox` of the store says that the table has no outbox or that this function must not commit messages",
      );
    }
    const placed = placeMessages(this.#table, messages, { recordKey: "", token: "", now: 0 });
    marshallWrites(this.#table, writes, placed);
  }

  /**
   * Lists held keys and abandoned attempts from before `before` (epoch ms), for functions that use hold or verify. `Date.now()`
   * lists all of them. The list contains no payloads or results. Each of eight shards is listed oldest first, with one query per
   * 25 keys and a consistent read of each record. The table needs the index `unsettled`: set `unknownOutcomes: true` on
   * `IdempotencyTable`.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`)
   */
  unknownOutcomes({ before }: { readonly before: number }): AsyncIterable<UnknownOutcome> {
    return listUnknownOutcomes(this.#connection, this.#table, before);
  }

  async #finish(
    finish: Settlement<DynamoDBWrite> | Insertion<DynamoDBWrite>,
    changeWith: (values: Values) => Change,
  ): Promise<SettleAnswer> {
    const { recordKey, token, state, writes, messages } = finish;
    const placed = placeMessages(this.#table, messages, finish, this.#shards);
    const result = placeResult(this.#table, finish, placed.inRecord);
    const { item } = result;
    // The result of a commit with messages expires with its record.
    const isTogether = item && messages.length > 0;
    const others = marshallWrites(
      this.#table,
      writes,
      isTogether ? { items: [...placed.items, item], bytes: placed.bytes + sizeOf(item) } : placed,
      recordKey,
    );
    if (!isTogether) await this.#keepApart(item);
    const change = changeWith({ ...result.values, ...placed.values });
    const { refusedBy } = await this.#write(change, others, writes.length).catch((error) => {
      throw messages.length > 0 ? explainRefusal(error) : error;
    });
    const record = readRecord(this.#table, refusedBy);
    // If the record already has our token and state, this repeats a write whose answer was lost.
    const settled = !refusedBy || (record?.token === token && record.state === state);
    return settled ? { settled } : { settled, record };
  }

  /** An item that is there already is either identical or erased. */
  async #keepApart(Item: Item | undefined): Promise<void> {
    const { TableName, absent } = this.#table;
    if (Item) await send(this.#connection, "PutItem", { TableName, Item, ...absent });
  }

  /** @param writes the number of the caller's own writes, which come first in `others` */
  async #write(change: Change, others: TransactWriteItem[], writes: number): Promise<{ refusedBy?: Item }> {
    try {
      if (others.length > 0)
        return await send(this.#connection, "TransactWriteItems", transaction([change, ...others]));
      return await ("Put" in change
        ? send(this.#connection, "PutItem", change.Put)
        : send(this.#connection, "UpdateItem", change.Update));
    } catch (error) {
      throw blameWrites(error, others.slice(0, writes), this.#isThere ? this.#table.TableName : undefined);
    }
  }

  async #get(recordKey: string, ConsistentRead: boolean): Promise<Item | undefined> {
    const { TableName, keyOf } = this.#table;
    const input = { TableName, Key: keyOf(recordKey), ConsistentRead };
    const { Item } = await send(this.#connection, "GetItem", input);
    this.#isThere = true;
    return Item;
  }
}

/**
 * The items' conditions carry the guarantee. The request token is the same for the same content and only spares DynamoDB the
 * work of a repetition: DynamoDB forgets it after 10 minutes.
 */
function transaction(TransactItems: TransactWriteItem[]): TransactWriteItemsInput {
  const content = hashTuple(encodeInput(TransactItems));
  return { TransactItems, ClientRequestToken: content.slice(0, 36) };
}
