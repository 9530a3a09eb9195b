/** Sends a request to DynamoDB. Returns the item whose condition refused the write, and the database's time. */
import type { Answer, Connection, Inputs, OperationName } from "./connection.ts";
import { readRefusedItem } from "./errors.ts";
import type { Item } from "./values.ts";

export type Sent<Name extends OperationName> = Partial<Answer<Name>> & {
  /** The item whose condition refused; empty if there is none. */
  readonly refusedBy?: Item;
};

/** @throws TransactionConditionError, StoreUnavailableError */
export async function send<Name extends OperationName>(
  connection: Connection,
  operation: Name,
  input: Inputs[Name],
): Promise<Sent<Name>> {
  try {
    return (await connection.send(operation, input)) as Sent<Name>;
  } catch (error) {
    return { refusedBy: readRefusedItem(error) } as Sent<Name>;
  }
}
