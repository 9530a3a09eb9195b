/** What is written to a record at each step. No I/O. */
import type { Put, Update } from "@aws-sdk/client-dynamodb";
import { RECORD_VERSION } from "../contract.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type { Claim, Effects, Insertion, Settlement } from "../core/store.ts";
import { MINE, STILL_SEEN } from "./conditions.ts";
import type { RecordTable, Values } from "./record-table.ts";

/** What only a record that has ended has. */
export const UNFINISHED = {
  result: undefined,
  resultItem: undefined,
  resultBytes: undefined,
  completedAt: undefined,
};

type ClaimBeginning = Omit<Claim, "leaseEndsAt"> | Omit<Insertion, keyof Effects>;

/** Makes the record: the request that every first call begins with, so it says no more than it must. */
export function firstPut(table: RecordTable, beginning: ClaimBeginning, values: Values): Put {
  return {
    TableName: table.TableName,
    Item: table.itemOf({ partitionKey: beginning.recordKey, ...begun(beginning), ...values }),
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
  const all = { ...UNFINISHED, ...(!keepsSteps && { steps: undefined }), ...begun(beginning), ...values };
  return table.updateOf(recordKey, STILL_SEEN, all, {
    seenToken: seen.token,
    seenState: seen.state,
    seenLeaseEndsAt: seen.leaseEndsAt,
  });
}

function begun({ token, fingerprint, attempt, createdAt, expiresAt }: ClaimBeginning): Values {
  return { version: RECORD_VERSION, token, fingerprint, attempt, createdAt, expiresAt };
}

export function settleChange(
  table: RecordTable,
  { recordKey, token, state, now, expiresAt }: Omit<Settlement, keyof Effects>,
  values: Values,
): Update {
  const completedAt = state === "completed" || state === "failed" ? now : undefined;
  const settled = { ...UNFINISHED, state, expiresAt, completedAt, ...values };
  return table.updateOf(recordKey, MINE, settled, { token, inProgress: "in-progress" });
}
