/** The store on DynamoDB: every decision is one conditional write. All policy is in the engine. */
import { serialize } from "node:v8";
import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { StoreUnavailableError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";
import { checkOptions } from "../core/option-checks.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type { Claim, ClaimAnswer, Insertion, SettleAnswer, Settlement, Store } from "../core/store.ts";
import { ANEW, beginChange, type RecordWrite, settleChange } from "./changes.ts";
import { readRefusedItem } from "./errors.ts";
import { CHECKS, type DynamoDBStoreOptions } from "./options.ts";
import { type Item, RecordTable, type Values } from "./record-table.ts";
import { placeResult, readText } from "./results.ts";
import { readRecord } from "./stored-record.ts";
import { type DynamoDBWrite, marshallWrites } from "./writes.ts";

/**
 * Keeps records in a DynamoDB table, and commits writes to DynamoDB in one transaction with them.
 *
 * While record and result stay within 1 KB, a claim and a completion cost 1 write unit each, or 2 in a
 * transaction. Larger results are compressed and go to an item of their own, up to 400 KB; beyond that the
 * record says that the result was not kept.
 */
export class DynamoDBStore implements Store<DynamoDBWrite> {
  readonly #table: RecordTable;
  readonly #client: DynamoDBClient;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: DynamoDBStoreOptions) {
    checkOptions(options, CHECKS, ["tableName"]);
    this.#table = new RecordTable(options);
    this.#client =
      (options.client as DynamoDBClient | undefined) ??
      new DynamoDBClient({
        // Without the last one a request that is over its time is only warned about.
        requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
      });
  }

  async claim(claim: Claim, expired?: IdempotencyRecord): Promise<ClaimAnswer> {
    const { recordKey, leaseEndsAt, expiresAt } = claim;
    const values = { state: "in-progress", leaseEndsAt, expiresAt };
    try {
      const written = await this.#write(beginChange(this.#table, claim, values, expired));
      if (written.refusedBy) return { won: false, record: this.#read(written.refusedBy) };
      const { names } = this.#table;
      // One engine returns no attributes for a first claim, the other the bare key.
      const former = written.Attributes ?? {};
      return {
        won: true,
        attempt: (expired?.attempt ?? Number(former[names.attempt]?.N ?? 0)) + 1,
        takenOver: former[names.state]?.S === "in-progress",
        serverTimeMs: written.serverTimeMs,
      };
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || error.failure !== "conflict") throw error;
      // A transaction on this record is under way, most likely the winner's commit. What the record says
      // meanwhile is the right answer; if it says that it can be claimed, the next claim decides.
      return { won: false, record: await this.find(recordKey, { consistent: true }) };
    }
  }

  settle(settlement: Settlement<DynamoDBWrite>): Promise<SettleAnswer> {
    return this.#finish(settlement, (result) => settleChange(this.#table, settlement, result));
  }

  async insert(insertion: Insertion<DynamoDBWrite>, expired?: IdempotencyRecord): Promise<SettleAnswer> {
    const { state, token, now, expiresAt } = insertion;
    const values = { ...ANEW, state, expiresAt, leaseEndsAt: now, completedAt: now };
    const answer = await this.#finish(insertion, (result) =>
      beginChange(this.#table, insertion, { ...values, ...result }, expired),
    );
    if (answer.settled || answer.record?.token !== token || answer.record.state !== "in-progress")
      return answer;
    // A claim of ours, whose answer was lost, holds the record.
    return this.settle(insertion);
  }

  async find(recordKey: string, read: { consistent: boolean }): Promise<IdempotencyRecord | undefined> {
    return this.#read(await this.#get(recordKey, read.consistent));
  }

  async loadResult(address: string): Promise<string | undefined> {
    // What lies at an address never changes, so that the cheaper read can only miss it.
    const item = (await this.#get(address, false)) ?? (await this.#get(address, true));
    return item && readText(item[this.#table.names.result]);
  }

  checkWrites(writes: readonly DynamoDBWrite[]): void {
    marshallWrites(this.#table, writes);
  }

  async #finish(
    finish: Settlement<DynamoDBWrite> | Insertion<DynamoDBWrite>,
    changeWith: (result: Values) => RecordWrite,
  ): Promise<SettleAnswer> {
    const { recordKey, token, state, writes } = finish;
    const others = marshallWrites(this.#table, writes, recordKey);
    const { TableName } = this.#table;
    const result = await placeResult(this.#table, finish, (Item) =>
      answerOf(this.#client.send(new PutItemCommand({ TableName, Item }))),
    );
    const write = changeWith(result);
    const request = others.length > 0 ? this.#transact([write, ...others], finish) : this.#write(write);
    const { refusedBy } = await request;
    if (!refusedBy) return { settled: true };
    const record = this.#read(refusedBy);
    // Mine already, so this is the repetition of a write whose answer was lost.
    return record?.token === token && record.state === state ? { settled: true } : { settled: false, record };
  }

  async #write(write: RecordWrite) {
    const command = (
      "Put" in write
        ? new PutItemCommand(write.Put)
        : new UpdateItemCommand({ ...write.Update, ReturnValues: "ALL_OLD" })
    ) as UpdateItemCommand;
    let date: string | undefined;
    command.middlewareStack.add(
      (next) =>
        async function readServerTime(args) {
          const answer = await next(args);
          date = (answer.response as { headers?: Record<string, string> }).headers?.date;
          return answer;
        },
      { step: "deserialize" },
    );
    const answer = await answerOf(this.#client.send(command));
    return { ...answer, serverTimeMs: Date.parse(`${date}`) || undefined };
  }

  /**
   * The conditions of the items alone carry the guarantee. The request token, the same for the same content,
   * only spares DynamoDB the work of a repetition: it is forgotten after 10 minutes.
   */
  #transact(TransactItems: readonly TransactWriteItem[], claim: { recordKey: string; token: string }) {
    const content = hashTuple("onceonly/commit/1", claim.recordKey, claim.token, serialize(TransactItems));
    const send = (ClientRequestToken?: string) =>
      this.#client.send(
        new TransactWriteItemsCommand({ TransactItems: [...TransactItems], ClientRequestToken }),
      );
    return answerOf(
      send(content.slice(0, 36)).catch((error: Error) => {
        // Another request was accepted under this token: under a fresh one the conditions decide.
        if (error.name !== "IdempotentParameterMismatchException") throw error;
        return send();
      }),
    );
  }

  async #get(recordKey: string, ConsistentRead: boolean): Promise<Item | undefined> {
    const { TableName } = this.#table;
    const Key = this.#table.key(recordKey);
    return (await answerOf(this.#client.send(new GetItemCommand({ TableName, Key, ConsistentRead })))).Item;
  }

  #read(item: Item | undefined): IdempotencyRecord | undefined {
    return item && Object.keys(item).length > 0 ? readRecord(this.#table, item) : undefined;
  }
}

/** The answer, or the item whose condition refused; that one is empty if there is none. */
async function answerOf<T extends object>(sent: Promise<T>): Promise<T & { readonly refusedBy?: Item }> {
  try {
    return await sent;
  } catch (error) {
    return { refusedBy: readRefusedItem(error) } as T & { readonly refusedBy: Item };
  }
}
