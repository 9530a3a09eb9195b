import { ConnectedStore } from "./connected-store.ts";
import { CLIENT_CHECKS, checkStoreOptions, type DynamoDBStoreOptions } from "./options.ts";
import { GIVEN_CLIENT, sdkConnection } from "./sdk-connection.ts";

/**
 * Keeps records in a DynamoDB table, and commits writes to DynamoDB in one transaction with them.
 *
 * A claim costs 1 write unit, and so does a completion whose record and result stay within 1 KB, or 2 in a transaction.
 * Larger results are compressed: up to some 4 KB they stay in the record, 1 unit for each KB. Others go to an item of their
 * own, up to 400 KB and 16 MB of text. Beyond that the record says that the result was not kept.
 */
export class DynamoDBStore extends ConnectedStore {
  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: DynamoDBStoreOptions) {
    checkStoreOptions(options, CLIENT_CHECKS);
    super(options, sdkConnection(options), options.client && GIVEN_CLIENT);
  }
}
