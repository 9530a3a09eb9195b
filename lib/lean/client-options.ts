/** The client that reaches the table. */
import type { Check } from "../core/option-checks.ts";
import type { LeanDynamoDB } from "./lean-dynamodb.ts";

export interface LeanClientOptions {
  /**
   * A client that can be shared with other stores.
   * @default - a client with the defaults of LeanDynamoDB
   */
  readonly client?: LeanDynamoDB;
}

export const LEAN_CHECKS: Readonly<Record<keyof LeanClientOptions, Check>> = {
  client: [
    'must be a LeanDynamoDB (an SDK client belongs in the DynamoDBStore of "onceonly/dynamodb")',
    (value) => {
      const { isLean, send } = Object(value) as Partial<LeanDynamoDB>;
      return isLean === true && typeof send === "function";
    },
  ],
};
