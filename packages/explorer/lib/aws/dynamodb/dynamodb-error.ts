/**
 * DynamoDB's errors, by the names under which the AWS SDK throws them.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
 */
import { acrossCopies } from "../across-copies.ts";
import type { Item } from "./values/attribute-value.ts";

export const DYNAMODB_ERROR_NAMES = [
  "ConditionalCheckFailedException",
  "ExpiredIteratorException",
  "IdempotentParameterMismatchException",
  "InternalServerError",
  "ItemCollectionSizeLimitExceededException",
  "LimitExceededException",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "ReplicatedWriteConflictException",
  "ResourceInUseException",
  "ResourceNotFoundException",
  "SerializationException",
  "ServiceUnavailable",
  "ThrottlingException",
  "TransactionCanceledException",
  "TransactionConflictException",
  "TransactionInProgressException",
  "TrimmedDataAccessException",
  "UnknownOperationException",
  "ValidationException",
] as const;

export type DynamoDBErrorName = (typeof DYNAMODB_ERROR_NAMES)[number];

export interface CancellationReason {
  /** "None" for an action that did not cause the cancellation. */
  readonly Code: string;
  readonly Message?: string | undefined;
  readonly Item?: Item | undefined;
}

/** What DynamoDB returns in addition to an error's name and message. */
export interface DynamoDBErrorDetails {
  readonly Item?: Item | undefined;
  readonly CancellationReasons?: readonly CancellationReason[] | undefined;
}

const SERVER_ERRORS: Partial<Record<DynamoDBErrorName, number>> = {
  InternalServerError: 500,
  ServiceUnavailable: 503,
};

/** An interceptor throws this error to answer a call as DynamoDB would. */
export class DynamoDBError extends Error {
  override readonly name: DynamoDBErrorName;
  readonly statusCode: number;
  readonly details: DynamoDBErrorDetails;

  constructor(name: DynamoDBErrorName, message: string, details: DynamoDBErrorDetails = {}) {
    super(message);
    this.name = name;
    this.statusCode = SERVER_ERRORS[name] ?? 400;
    this.details = details;
  }
}
acrossCopies(DynamoDBError, "DynamoDBError");

/**
 * The request does not fit its table. In a transaction this is the reason of one action, and not an error of
 * the whole.
 */
export class SchemaMismatchError extends DynamoDBError {
  constructor(message: string) {
    super("ValidationException", message);
  }
}

export function invalid(message: string): DynamoDBError {
  return new DynamoDBError("ValidationException", message);
}

export function invalidParameterValues(message: string): DynamoDBError {
  return invalid(`One or more parameter values were invalid: ${message}`);
}

export function notSerializable(message: string): DynamoDBError {
  return new DynamoDBError("SerializationException", message);
}

export function notFound(message = "Requested resource not found"): DynamoDBError {
  return new DynamoDBError("ResourceNotFoundException", message);
}

export function conditionFailed(item: Item | undefined): DynamoDBError {
  return new DynamoDBError("ConditionalCheckFailedException", "The conditional request failed", {
    ...(item && { Item: item }),
  });
}

/** One reason for each action, in the order of the actions. */
export function transactionCanceled(reasons: readonly CancellationReason[]): DynamoDBError {
  const codes = reasons.map(({ Code }) => Code).join(", ");
  return new DynamoDBError(
    "TransactionCanceledException",
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  );
}
