/** The type of a function that implements one operation. */
import type { DynamoDBService } from "./dynamodb-service.ts";
import type { DynamoDBOperationName, DynamoDBOperations } from "./operations.ts";

export type DynamoDBHandler<Name extends DynamoDBOperationName> = (
  service: DynamoDBService,
  input: DynamoDBOperations[Name]["input"],
) => DynamoDBOperations[Name]["output"];
