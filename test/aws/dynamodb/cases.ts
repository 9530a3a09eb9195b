/** Everything the tests state about DynamoDB; each subject runs the same. */

import { batchGetCases, batchWriteCases } from "./batch-cases.ts";
import { capacityCases } from "./capacity-cases.ts";
import type { DynamoDBCase } from "./case.ts";
import { comparisonCases, functionCases, logicCases, missingAttributeCases } from "./condition-cases.ts";
import { conditionFailureCases, keyCases } from "./conditional-write-cases.ts";
import { indexCases } from "./index-cases.ts";
import { keyConditionCases, orderCases } from "./key-condition-cases.ts";
import { projectionExpressionCases } from "./projection-cases.ts";
import { filterCases, pageCases } from "./query-page-cases.ts";
import {
  expressionLimitCases,
  grammarCases,
  operandCases,
  parenthesesCases,
  placeholderCases,
} from "./refused-condition-cases.ts";
import { updateGrammarCases, updateOperandCases, updatePathCases } from "./refused-update-cases.ts";
import { scanCases } from "./scan-cases.ts";
import { shardCases } from "./shard-cases.ts";
import { returnValueCases, writeCases } from "./single-write-cases.ts";
import { statementCases } from "./statement-cases.ts";
import { streamCases } from "./stream-cases.ts";
import { tableCases, timeToLiveCases } from "./table-cases.ts";
import { indexCapacityCases, transactionCapacityCases } from "./transaction-capacity-cases.ts";
import { transactWriteCases } from "./transaction-cases.ts";
import { transactionReasonCases } from "./transaction-reason-cases.ts";
import { tokenCases, transactGetCases } from "./transaction-token-cases.ts";
import {
  addAndDeleteCases,
  arithmeticCases,
  binarySetCases,
  listCases,
  removeCases,
  setCases,
  updateFunctionCases,
} from "./update-cases.ts";
import { itemCases, numberCases, typeCases } from "./value-cases.ts";

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
