/**
 * TransactWriteItems: all actions or none; a refusal has a reason for each action.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
import {
  addUnits,
  type ConsumedCapacity,
  readUnits,
  reportTransaction,
  totalOf,
  type Units,
  writeUnits,
} from "../consumed-capacity.ts";
import {
  type CancellationReason,
  DynamoDBError,
  invalid,
  SchemaMismatchError,
  transactionCanceled,
} from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import type { DynamoDBHandler } from "../handler.ts";
import type { Table } from "../tables/table.ts";
import type { Item } from "../values/attribute-value.ts";
import { itemSize } from "../values/value-size.ts";
import { commitWrite } from "./commit-write.ts";
import { type PreparedWrite, tryWrite } from "./prepared-write.ts";
import { readAction } from "./transaction-actions.ts";
import type { Bind } from "./write-inputs.ts";

interface AttemptedWrite {
  readonly write: PreparedWrite;
  readonly former: Item | undefined;
  readonly next: Item | undefined;
}

const MAX_ACTIONS = 100;
const MAX_BYTES = 4 * 1024 * 1024;
const NO_REASON: CancellationReason = { Code: "None" };

export const transactWriteItems: DynamoDBHandler<"TransactWriteItems"> = (service, input) => {
  const { TransactItems, ClientRequestToken, ReturnConsumedCapacity } = input;
  if (!Array.isArray(TransactItems) || TransactItems.length < 1 || TransactItems.length > MAX_ACTIONS) {
    throw invalid(
      `1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1 and less than or equal to ${MAX_ACTIONS}`,
    );
  }
  const writes = bindAll(service, TransactItems.map(readAction));
  checkTargetsDiffer(writes);
  if (service.transactionTokens.wasDone(ClientRequestToken, TransactItems, service.now())) {
    return outputOf(reportTransaction(ReturnConsumedCapacity, repeatedUnits(writes), "Read"));
  }
  const attempts = attemptAll(writes);
  for (const { write, next } of attempts) {
    if (next !== write.table.items.get(write.key)) commitWrite(service, write.table, write.key, next);
  }
  service.transactionTokens.note(ClientRequestToken, TransactItems, service.now());
  return outputOf(reportTransaction(ReturnConsumedCapacity, chargedUnits(attempts), "Write"));
};

function outputOf(ConsumedCapacity: readonly ConsumedCapacity[] | undefined) {
  return ConsumedCapacity === undefined ? {} : { ConsumedCapacity };
}

/** The first action that does not fit its table is the only reason; no condition is evaluated. */
function bindAll(service: DynamoDBService, binds: readonly Bind[]): readonly PreparedWrite[] {
  return binds.map((bind, index) => {
    try {
      return bind(service);
    } catch (error) {
      if (!(error instanceof SchemaMismatchError)) throw error;
      throw transactionCanceled(binds.map((_, each) => (each === index ? reasonFor(error) : NO_REASON)));
    }
  });
}

function checkTargetsDiffer(writes: readonly PreparedWrite[]): void {
  const targets = writes.map(({ table, key }) => `${table.name} ${table.keyText(key)}`);
  if (new Set(targets).size < targets.length) {
    throw invalid("Transaction request cannot include multiple operations on one item");
  }
}

/** @throws DynamoDBError `TransactionCanceledException` when an action is refused */
function attemptAll(writes: readonly PreparedWrite[]): readonly AttemptedWrite[] {
  const attempts: AttemptedWrite[] = [];
  const reasons = writes.map((write) => {
    const former = write.table.items.get(write.key);
    try {
      attempts.push({ write, former, next: tryWrite(write) });
      return NO_REASON;
    } catch (error) {
      attempts.push({ write, former, next: former });
      return reasonFor(error);
    }
  });
  const bytes = attempts.reduce((sum, { next }) => sum + itemSize(next), 0);
  if (bytes > MAX_BYTES) {
    throw invalid(
      `Collection size of items exceeded: the transaction has ${bytes} bytes, and the limit is 4 MB`,
    );
  }
  if (reasons.every((reason) => reason === NO_REASON)) return attempts;
  chargedUnits(attempts);
  throw transactionCanceled(reasons);
}

function reasonFor(error: unknown): CancellationReason {
  if (!(error instanceof DynamoDBError)) throw error;
  const isCondition = error.name === "ConditionalCheckFailedException";
  const { Item } = error.details;
  return {
    Code: isCondition ? "ConditionalCheckFailed" : "ValidationError",
    Message: error.message,
    ...(Item && { Item }),
  };
}

/** Each item is written twice, to prepare and to commit; its entries in indexes are written once. */
function chargedUnits(attempts: readonly AttemptedWrite[]): ReadonlyMap<Table, Units> {
  const units = new Map<Table, Units>();
  for (const { write, former, next } of attempts) {
    const single = writeUnits(write.table, former, next);
    units.set(write.table, addUnits(units.get(write.table), { ...single, table: 2 * single.table }));
  }
  for (const [table, each] of units) table.units.write += totalOf(each);
  return units;
}

/** A repetition with the same token reads the items. */
function repeatedUnits(writes: readonly PreparedWrite[]): ReadonlyMap<Table, Units> {
  const units = new Map<Table, Units>();
  for (const { table, key } of writes) {
    const read = 2 * readUnits(itemSize(table.items.get(key)), true);
    units.set(table, addUnits(units.get(table), { table: read, indexes: {} }));
    table.units.read += read;
  }
  return units;
}
