// A store whose engine answers with the error that a test names. Nothing is ever sent.
import { marshall } from "@aws-sdk/util-dynamodb";
import {
  CommitInvalidError,
  StoreUnavailableError,
  TransactionConditionError,
} from "../../lib/core/errors.ts";
import type { Settlement } from "../../lib/core/store.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { failWith } from "../kit/faults/faulty-client.ts";
import { connect } from "../kit/tables.ts";

const NOW = 1_900_000_000_000;

// Nothing listens there: a request that gets through would fail.
export const client = connect("http://127.0.0.1:1", { maxAttempts: 1 });
export const store = new DynamoDBStore({ tableName: "records", client });

const write = (id: string): DynamoDBWrite => ({ Delete: { TableName: "orders", Key: { id } } });

export const settlement: Settlement<DynamoDBWrite> = {
  recordKey: "op##hash",
  token: "mine",
  now: NOW,
  state: "completed",
  writes: [write("1"), write("2")],
  messages: [],
};

export const recordOf = (token: string, state: string) =>
  marshall({
    pk: settlement.recordKey,
    version: 1,
    state,
    token,
    attempt: 1,
    leaseEndsAt: NOW,
    fingerprint: "f",
    createdAt: NOW,
  });

/** What settling says when the engine answers with `error`, in a few words. */
export async function outcomeOf(error: Error, change: Partial<typeof settlement> = {}): Promise<string> {
  failWith(client, error);
  try {
    const answer = await store.settle({ ...settlement, ...change });
    return answer.settled ? "settled" : `refused by the record of ${answer.record?.token}`;
  } catch (failure) {
    if (failure instanceof TransactionConditionError) return `writes[${failure.index}] refused`;
    if (failure instanceof CommitInvalidError && failure.cause === error)
      return `writes[${failure.index ?? "?"}] invalid`;
    if (failure instanceof StoreUnavailableError && failure.cause === error) return failure.failure;
    throw failure;
  }
}
