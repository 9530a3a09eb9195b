/** EventBridge's errors, by the names under which the AWS SDK throws them. */
import { acrossCopies } from "../across-copies.ts";

export type EventBridgeErrorName =
  | "ResourceAlreadyExistsException"
  | "ResourceNotFoundException"
  | "UnknownOperationException"
  | "ValidationException";

export class EventBridgeError extends Error {
  override readonly name: EventBridgeErrorName;
  readonly statusCode = 400;

  constructor(name: EventBridgeErrorName, message: string) {
    super(message);
    this.name = name;
  }
}
acrossCopies(EventBridgeError, "EventBridgeError");

export function invalid(message: string): EventBridgeError {
  return new EventBridgeError("ValidationException", message);
}
