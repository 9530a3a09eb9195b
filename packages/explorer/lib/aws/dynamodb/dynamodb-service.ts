/** Shared by all operations: the time, the tables and streams by name, and the latest transactions. */
import { createHash } from "node:crypto";
import type { Clock } from "onceonly/kit";
import { notFound } from "./dynamodb-error.ts";
import type { Stream } from "./streams/stream.ts";
import type { Table } from "./tables/table.ts";
import { tableNameIn } from "./tables/table-name.ts";
import type { Item } from "./values/attribute-value.ts";
import { TransactionTokens } from "./writes/transaction-tokens.ts";

/** An eventually consistent read of an item that has a previous version. */
export interface StaleRead {
  readonly tableName: string;
  readonly key: Item;
  /** When the item was last written, in epoch ms. */
  readonly writtenAt: number;
}

export interface DynamoDBServiceOptions {
  readonly clock: Clock;
  readonly region: string;
  readonly accountId: string;
  readonly isStale: ((read: StaleRead) => boolean) | undefined;
}

/** Sequence numbers have 21 to 40 digits. https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html */
const FIRST_SEQUENCE_NUMBER = 10n ** 20n;

export class DynamoDBService {
  readonly options: DynamoDBServiceOptions;
  readonly tables = new Map<string, Table>();
  /** By ARN; streams of deleted tables are included. */
  readonly streams = new Map<string, Stream>();
  readonly transactionTokens = new TransactionTokens();
  #sequence = 0n;
  #ids = 0;

  constructor(options: DynamoDBServiceOptions) {
    this.options = options;
  }

  now(): number {
    return this.options.clock.now();
  }

  /** 21 digits; each number is larger than the one before. */
  newSequenceNumber(): string {
    this.#sequence += 1n;
    return String(FIRST_SEQUENCE_NUMBER + this.#sequence);
  }

  /** 32 hex digits: the same for the same calls in the same order. */
  newId(): string {
    return createHash("sha256")
      .update(`${this.#ids++}`)
      .digest("hex")
      .slice(0, 32);
  }

  arnOf(resource: string): string {
    return `arn:aws:dynamodb:${this.options.region}:${this.options.accountId}:${resource}`;
  }

  table(nameOrArn: unknown): Table {
    const table = this.tables.get(tableNameIn(nameOrArn));
    if (table === undefined) throw notFound();
    return table;
  }
}
