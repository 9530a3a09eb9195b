/**
 * Reads the inputs of puts, updates, deletes and checks, both single and in transactions. Expressions are parsed
 * before any table is looked up, because a malformed expression fails the whole transaction.
 */
import { SchemaMismatchError } from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import { applyUpdate } from "../expressions/apply-update.ts";
import { parseCondition } from "../expressions/parse-condition.ts";
import { parseUpdate } from "../expressions/parse-update.ts";
import { Placeholders } from "../expressions/placeholders.ts";
import type { Update } from "../expressions/syntax.ts";
import { parseExpression } from "../expressions/token-stream.ts";
import type { DeleteRequest, PutRequest, UpdateRequest } from "../item-operations.ts";
import { keyNames } from "../tables/key-schema.ts";
import { keyOfItem, readKey } from "../tables/key-values.ts";
import { checkDepth, readItem } from "../values/read-value.ts";
import { checkItem, type PreparedWrite } from "./prepared-write.ts";

/** Binds the parsed input to its table. */
export type Bind<Write extends PreparedWrite = PreparedWrite> = (service: DynamoDBService) => Write;

export interface PreparedUpdate extends PreparedWrite {
  readonly update: Update;
}

export function readPut(request: PutRequest): Bind {
  const conditions = readConditions(request);
  const item = readItem(request.Item);
  return (service) => {
    const table = service.table(request.TableName);
    const key = keyOfItem(item, table.schema);
    checkItem(table, item);
    return { table, key, ...conditions, change: () => item };
  };
}

export function readDelete(request: DeleteRequest): Bind {
  const conditions = readConditions(request);
  return (service) => {
    const table = service.table(request.TableName);
    return { table, key: readKey(request.Key, table.schema), ...conditions, change: () => undefined };
  };
}

export function readCheck(request: DeleteRequest): Bind {
  const bind = readDelete(request);
  return (service) => ({ ...bind(service), change: (former) => former });
}

export function readUpdate(request: UpdateRequest): Bind<PreparedUpdate> {
  const placeholders = new Placeholders(request);
  const update =
    parseExpression("UpdateExpression", request.UpdateExpression, placeholders, parseUpdate) ?? [];
  const conditions = readConditions(request, placeholders);
  return (service) => {
    const table = service.table(request.TableName);
    const key = readKey(request.Key, table.schema);
    checkKeyIsKept(update, keyNames(table.schema));
    const change: PreparedWrite["change"] = (former) => {
      const next = applyUpdate(update, former ?? key);
      checkDepth(next);
      return next;
    };
    return { table, key, ...conditions, update, change };
  };
}

function checkKeyIsKept(update: Update, names: readonly string[]): void {
  for (const { path } of update) {
    if (!names.some((name) => name === path[0])) continue;
    throw new SchemaMismatchError(
      `One or more parameter values were invalid: Cannot update attribute ${path[0]}. This attribute is part of the key`,
    );
  }
}

function readConditions(
  request: PutRequest | DeleteRequest | UpdateRequest,
  placeholders = new Placeholders(request),
): Pick<PreparedWrite, "condition" | "returnsItemOnFailure"> {
  const { ConditionExpression } = request;
  const condition = parseExpression("ConditionExpression", ConditionExpression, placeholders, parseCondition);
  placeholders.checkUse([ConditionExpression, (request as UpdateRequest).UpdateExpression]);
  return { condition, returnsItemOnFailure: request.ReturnValuesOnConditionCheckFailure === "ALL_OLD" };
}
