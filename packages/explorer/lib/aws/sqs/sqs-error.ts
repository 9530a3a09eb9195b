/** SQS's errors: the name under which the AWS SDK throws each, and its code in the older query protocol. */
import { acrossCopies } from "../across-copies.ts";

export const SQS_ERROR_CODES = {
  BatchEntryIdsNotDistinct: "AWS.SimpleQueueService.BatchEntryIdsNotDistinct",
  BatchRequestTooLong: "AWS.SimpleQueueService.BatchRequestTooLong",
  EmptyBatchRequest: "AWS.SimpleQueueService.EmptyBatchRequest",
  InvalidAttributeName: "InvalidAttributeName",
  InvalidAttributeValue: "InvalidAttributeValue",
  InvalidBatchEntryId: "AWS.SimpleQueueService.InvalidBatchEntryId",
  InvalidMessageContents: "InvalidMessageContents",
  InvalidParameterValue: "InvalidParameterValue",
  MissingParameter: "MissingParameter",
  OverLimit: "OverLimit",
  PurgeQueueInProgress: "AWS.SimpleQueueService.PurgeQueueInProgress",
  QueueDeletedRecently: "AWS.SimpleQueueService.QueueDeletedRecently",
  QueueDoesNotExist: "AWS.SimpleQueueService.NonExistentQueue",
  QueueNameExists: "QueueAlreadyExists",
  ReceiptHandleIsInvalid: "ReceiptHandleIsInvalid",
  ResourceNotFoundException: "ResourceNotFoundException",
  TooManyEntriesInBatchRequest: "AWS.SimpleQueueService.TooManyEntriesInBatchRequest",
  UnknownOperationException: "UnknownOperationException",
  UnsupportedOperation: "AWS.SimpleQueueService.UnsupportedOperation",
} as const;

export type SqsErrorName = keyof typeof SQS_ERROR_CODES;

export class SqsError extends Error {
  override readonly name: SqsErrorName;
  readonly code: string;
  readonly statusCode: number;

  constructor(name: SqsErrorName, message: string) {
    super(message);
    this.name = name;
    this.code = SQS_ERROR_CODES[name];
    this.statusCode = name === "ResourceNotFoundException" ? 404 : 400;
  }
}
acrossCopies(SqsError, "SqsError");

export function invalidParameter(message: string): SqsError {
  return new SqsError("InvalidParameterValue", message);
}

export function invalidValue(parameter: string, value: unknown, reason: string): SqsError {
  return invalidParameter(`Value ${value} for parameter ${parameter} is invalid. Reason: ${reason}`);
}

export function missingParameter(parameter: string): SqsError {
  return new SqsError("MissingParameter", `The request must contain the parameter ${parameter}.`);
}
