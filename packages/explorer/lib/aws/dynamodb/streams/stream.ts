/**
 * The stream of a table: one shard that keeps its records for 24 hours.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
 */
import type { StreamRecord, StreamViewType } from "./stream-record.ts";

const RETENTION_MS = 24 * 3_600_000;

export interface StreamIdentity {
  readonly arn: string;
  readonly label: string;
  readonly shardId: string;
  readonly tableName: string;
  readonly keySchema: unknown;
  readonly viewType: StreamViewType;
  readonly firstSequenceNumber: string;
}

interface KeptRecord {
  readonly record: StreamRecord;
  readonly writtenAt: number;
}

export class Stream {
  readonly identity: StreamIdentity;
  readonly createdAt: number;
  #records: KeptRecord[] = [];
  /** How many records are gone; positions count from the first record ever. */
  #trimmed = 0;
  #closedAt: number | undefined;

  constructor(identity: StreamIdentity, now: number) {
    this.identity = identity;
    this.createdAt = now;
  }

  get arn(): string {
    return this.identity.arn;
  }

  get label(): string {
    return this.identity.label;
  }

  get viewType(): StreamViewType {
    return this.identity.viewType;
  }

  /** A closed stream accepts no more records, and keeps the ones it has for 24 hours. */
  get isClosed(): boolean {
    return this.#closedAt !== undefined;
  }

  /** A closed stream is gone when its last record is gone. */
  isGone(now: number): boolean {
    return this.#closedAt !== undefined && now - this.#closedAt >= RETENTION_MS;
  }

  close(now: number): void {
    this.#closedAt ??= now;
  }

  add(record: StreamRecord, now: number): void {
    if (!this.isClosed) this.#records.push({ record, writtenAt: now });
  }

  /** The position of the oldest record that is kept. */
  horizon(now: number): number {
    const expired = this.#records.findIndex(({ writtenAt }) => now - writtenAt < RETENTION_MS);
    const count = expired === -1 ? this.#records.length : expired;
    this.#trimmed += count;
    this.#records = this.#records.slice(count);
    return this.#trimmed;
  }

  /** The position after the last record. */
  end(): number {
    return this.#trimmed + this.#records.length;
  }

  recordsFrom(position: number): readonly StreamRecord[] {
    return this.#records.slice(position - this.#trimmed).map(({ record }) => record);
  }

  /** The position of the record with this number; `undefined` when the record never was, or is gone. */
  positionOf(sequenceNumber: string): number | undefined {
    const index = this.#records.findIndex(({ record }) => record.dynamodb.SequenceNumber === sequenceNumber);
    return index === -1 ? undefined : this.#trimmed + index;
  }

  /** Whether records with numbers as low as this are gone. */
  isTrimmed(sequenceNumber: string): boolean {
    const [first] = this.#records;
    if (this.#trimmed === 0) return false;
    return first === undefined || BigInt(sequenceNumber) < BigInt(first.record.dynamodb.SequenceNumber);
  }

  get lastSequenceNumber(): string | undefined {
    return this.#records.at(-1)?.record.dynamodb.SequenceNumber;
  }
}
