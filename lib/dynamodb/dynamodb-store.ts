import { ConnectedStore } from "./connected-store.ts";
import { CLIENT_CHECKS, checkStoreOptions, type DynamoDBStoreOptions } from "./options.ts";
import { GIVEN_CLIENT, sdkConnection } from "./sdk-connection.ts";

/**
 * Keeps records in a DynamoDB table, and commits your DynamoDB writes in one transaction with them.
 *
 * A claim costs 1 write unit. So does a completion if the record and its result fit in 1 KB, or 2 in a transaction. Larger
 * results are compressed: up to about 4 KB they stay in the record, at 1 unit per KB. Larger ones go into a separate item, up to
 * 400 KB compressed and 16 MB of text. Beyond that, the record says that the result was not kept.
 */
export class DynamoDBStore extends ConnectedStore {
  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: DynamoDBStoreOptions) {
    checkStoreOptions(options, CLIENT_CHECKS);
    super(options, sdkConnection(options), options.client && GIVEN_CLIENT);
  }
}
