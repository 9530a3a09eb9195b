/**
 * BatchExecuteStatement: statements that write; each succeeds or fails independently.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchExecuteStatement.html
 */
import { addUnits, reportBatch, type Units } from "../consumed-capacity.ts";
import { DynamoDBError, invalid } from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import type { DynamoDBHandler } from "../handler.ts";
import type { BatchStatement, BatchStatementResponse } from "../item-operations.ts";
import type { Table } from "../tables/table.ts";
import { checkTargetsDiffer } from "./batch-write-item.ts";
import type { PreparedWrite } from "./prepared-write.ts";
import { chargedWrite } from "./single-write.ts";
import { readStatement } from "./statements.ts";

const MAX_STATEMENTS = 25;

const CODES: Readonly<Record<string, string>> = {
  ConditionalCheckFailedException: "ConditionalCheckFailed",
  ResourceNotFoundException: "ResourceNotFound",
  ValidationException: "ValidationError",
};

interface Bound {
  readonly isInsertion: boolean;
  readonly write: PreparedWrite;
}

export const batchExecuteStatement: DynamoDBHandler<"BatchExecuteStatement"> = (service, input) => {
  const { Statements } = input;
  if (Statements.length === 0) throw invalid("The statement was empty.");
  if (Statements.length > MAX_STATEMENTS) throw invalid("BatchWriteItem cannot write more than 25 items");
  const bound = Statements.map((statement) => boundOrRefused(service, statement));
  checkTargetsDiffer(bound.flatMap((each) => ("write" in each ? each.write : [])));
  const units = new Map<Table, Units>();
  const Responses = bound.map((each): BatchStatementResponse => {
    if (!("write" in each)) return each;
    const { table } = each.write;
    try {
      const { units: spent } = chargedWrite(service, each.write);
      units.set(table, addUnits(units.get(table), spent));
      return { TableName: table.name };
    } catch (error) {
      return { TableName: table.name, ...refusal(error, each.isInsertion) };
    }
  });
  return { Responses, ...reportBatch(input.ReturnConsumedCapacity, units) };
};

function boundOrRefused(service: DynamoDBService, statement: BatchStatement): Bound | BatchStatementResponse {
  try {
    const { isInsertion, bind } = readStatement(statement);
    return { isInsertion, write: bind(service) };
  } catch (error) {
    return refusal(error, false);
  }
}

function refusal(error: unknown, isInsertion: boolean): BatchStatementResponse {
  if (!(error instanceof DynamoDBError)) throw error;
  const Code = CODES[error.name];
  if (Code === undefined) throw error;
  // The answer never holds the existing item, whatever the statement asks for.
  if (isInsertion && Code === "ConditionalCheckFailed") {
    return { Error: { Code: "DuplicateItem", Message: "Duplicate primary key exists in table" } };
  }
  return { Error: { Code, Message: error.message, ...error.details } };
}
