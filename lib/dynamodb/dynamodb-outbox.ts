import { ConnectedOutbox } from "./connected-outbox.ts";
import { CLIENT_CHECKS, checkOutboxOptions, type DynamoDBOutboxOptions } from "./options.ts";
import { sdkConnection } from "./sdk-connection.ts";

/**
 * Reads what `commit` stored for sending from the table's stream (with new images), the records themselves and the sparse index,
 * and marks it as sent. Give it the same options as the DynamoDBStore that commits.
 */
export class DynamoDBOutbox extends ConnectedOutbox {
  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: DynamoDBOutboxOptions) {
    checkOutboxOptions(options, CLIENT_CHECKS);
    super(options, sdkConnection(options));
  }
}
