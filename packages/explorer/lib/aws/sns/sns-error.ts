/** SNS's errors: code and status. The SDK appends `Exception` to most of the codes. */
import { acrossCopies } from "../across-copies.ts";

export const SNS_ERROR_STATUS = {
  AuthorizationError: 403,
  BatchEntryIdsNotDistinct: 400,
  BatchRequestTooLong: 400,
  EmptyBatchRequest: 400,
  InvalidBatchEntryId: 400,
  InvalidParameter: 400,
  NotFound: 404,
  TooManyEntriesInBatchRequest: 400,
  UnknownOperationException: 400,
} as const;

export type SnsErrorCode = keyof typeof SNS_ERROR_STATUS;

export class SnsError extends Error {
  override readonly name: string;
  readonly code: SnsErrorCode;

  constructor(code: SnsErrorCode, message: string) {
    super(message);
    this.name = code.endsWith("Exception") ? code : `${code}Exception`;
    this.code = code;
  }

  get statusCode(): number {
    return SNS_ERROR_STATUS[this.code];
  }
}
acrossCopies(SnsError, "SnsError");

export function invalidParameter(reason: string): SnsError {
  return new SnsError("InvalidParameter", `Invalid parameter: ${reason}`);
}
