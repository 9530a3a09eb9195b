import { ConnectedStore } from "../dynamodb/connected-store.ts";
import { checkStoreOptions, type StoreOptions } from "../dynamodb/options.ts";
import { LEAN_CHECKS, type LeanClientOptions } from "./client-options.ts";
import { LeanDynamoDB } from "./lean-dynamodb.ts";

export interface LeanStoreOptions extends StoreOptions, LeanClientOptions {}

/**
 * The DynamoDBStore of `onceonly`, with its own client instead of the SDK's. Both write the same records in the same table, so
 * functions with either one can share them.
 */
export class DynamoDBStore extends ConnectedStore {
  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: LeanStoreOptions) {
    checkStoreOptions(options, LEAN_CHECKS);
    super(options, options.client ?? new LeanDynamoDB());
  }
}
