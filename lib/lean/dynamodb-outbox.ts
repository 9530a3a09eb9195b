import { ConnectedOutbox } from "../dynamodb/connected-outbox.ts";
import { checkOutboxOptions, type OutboxTableOptions } from "../dynamodb/options.ts";
import { LEAN_CHECKS, type LeanClientOptions } from "./client-options.ts";
import { LeanDynamoDB } from "./lean-dynamodb.ts";

export interface LeanOutboxOptions extends OutboxTableOptions, LeanClientOptions {}

/** The DynamoDBOutbox of `onceonly`, with its own client instead of the SDK's. */
export class DynamoDBOutbox extends ConnectedOutbox {
  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: LeanOutboxOptions) {
    checkOutboxOptions(options, LEAN_CHECKS);
    super(options, options.client ?? new LeanDynamoDB());
  }
}
