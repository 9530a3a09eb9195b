/** Everything the tests state about DynamoDB; each subject runs the same. */

import { batchGetCases, batchWriteCases } from "./batch.ts";
import { capacityCases } from "./capacity.ts";
import type { DynamoDBCase } from "./case.ts";
import { comparisonCases, functionCases, logicCases, missingAttributeCases } from "./condition.ts";
import { conditionFailureCases, keyCases } from "./conditional-write.ts";
import { indexCases } from "./indexes.ts";
import { keyConditionCases, orderCases } from "./key-condition.ts";
import { projectionExpressionCases } from "./projection.ts";
import { filterCases, pageCases } from "./query-page.ts";
import {
  expressionLimitCases,
  grammarCases,
  operandCases,
  parenthesesCases,
  placeholderCases,
} from "./refused-condition.ts";
import { updateGrammarCases, updateOperandCases, updatePathCases } from "./refused-update.ts";
import { scanCases } from "./scan.ts";
import { shardCases } from "./shard.ts";
import { returnValueCases, writeCases } from "./single-write.ts";
import { statementCases } from "./statement.ts";
import { streamCases } from "./stream.ts";
import { tableCases, timeToLiveCases } from "./table.ts";
import { transactWriteCases } from "./transaction.ts";
import { indexCapacityCases, transactionCapacityCases } from "./transaction-capacity.ts";
import { transactionReasonCases } from "./transaction-reason.ts";
import { tokenCases, transactGetCases } from "./transaction-token.ts";
import {
  addAndDeleteCases,
  arithmeticCases,
  binarySetCases,
  listCases,
  removeCases,
  setCases,
  updateFunctionCases,
} from "./update.ts";
import { itemCases, numberCases, typeCases } from "./value.ts";

export const dynamoDBCases: Readonly<Record<string, readonly DynamoDBCase[]>> = {
  comparisons: [...comparisonCases, ...missingAttributeCases],
  functions: functionCases,
  "AND, OR, NOT and parentheses": [...logicCases, ...parenthesesCases],
  grammar: [...grammarCases, ...operandCases],
  placeholders: [...placeholderCases, ...expressionLimitCases],
  updates: [
    ...setCases,
    ...arithmeticCases,
    ...updateFunctionCases,
    ...listCases,
    ...removeCases,
    ...addAndDeleteCases,
    ...binarySetCases,
  ],
  "refused updates": [...updateGrammarCases, ...updateOperandCases, ...updatePathCases],
  projections: projectionExpressionCases,
  values: [...typeCases, ...numberCases],
  items: [...itemCases, ...keyCases],
  writes: [...writeCases, ...returnValueCases, ...conditionFailureCases],
  queries: [...keyConditionCases, ...orderCases, ...pageCases, ...filterCases],
  scans: scanCases,
  indexes: indexCases,
  transactions: [...transactWriteCases, ...transactionReasonCases, ...tokenCases, ...transactGetCases],
  batches: [...batchGetCases, ...batchWriteCases],
  statements: statementCases,
  streams: [...streamCases, ...shardCases],
  tables: [...tableCases, ...timeToLiveCases],
  capacity: [...capacityCases, ...transactionCapacityCases, ...indexCapacityCases],
};
