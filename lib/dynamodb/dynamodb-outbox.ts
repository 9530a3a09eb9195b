import { ConnectedOutbox } from "./connected-outbox.ts";
import { CLIENT_CHECKS, checkOutboxOptions, type DynamoDBOutboxOptions } from "./options.ts";
import { sdkConnection } from "./sdk-connection.ts";

/**
 * Reads what `commit` stored to be sent, from the table's stream (with new images), the records themselves, and the
 * sparse index; marks it as sent. The options are those of the DynamoDBStore that commits.
 */
export class DynamoDBOutbox extends ConnectedOutbox {
  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: DynamoDBOutboxOptions) {
    checkOutboxOptions(options, CLIENT_CHECKS);
    super(options, sdkConnection(options));
  }
}
