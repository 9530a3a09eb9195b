// Grants writes to tables of one's own that handlers commit together with their record.
// It may touch aws-cdk-lib only.
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { Grant, type IGrantable } from "aws-cdk-lib/aws-iam";
import { IN_TRANSACTIONS } from "./leading-keys.ts";
import { withTableKey } from "./perms.ts";

/** What a transaction consists of; there is no action for the transaction itself. */
const COMMIT_ACTIONS = [
  "dynamodb:ConditionCheckItem",
  "dynamodb:DeleteItem",
  "dynamodb:PutItem",
  "dynamodb:UpdateItem",
] as const;

export type CommitAction = (typeof COMMIT_ACTIONS)[number];

/**
 * Writes to a table of yours that are committed together with a record, or not at all: outside a transaction
 * IAM refuses them. `CommitGrants.fromTable(orders).actions(createOrder, "dynamodb:PutItem")`.
 *
 * IAM sees that a write is in a transaction, not which other writes are in it, and not its condition. So this stops code
 * that writes past `commit` by mistake. It does not stop code that means to: a transaction of its own without the record
 * passes, and so do any item of the table and any values.
 */
export class CommitGrants {
  static fromTable(table: ITable): CommitGrants {
    return new CommitGrants(table);
  }

  readonly #table: ITable;

  private constructor(table: ITable) {
    this.#table = table;
  }

  /**
   * Grants these actions on the table within transactions, and the use of its key where it has one of its own.
   *
   * @throws Error for an action that no transaction consists of, a misspelt one for example
   */
  actions(grantee: IGrantable, ...actions: CommitAction[]): Grant {
    const { tableArn, encryptionKey, node } = this.#table;
    const unknown = actions.find((action) => !COMMIT_ACTIONS.includes(action));
    if (unknown !== undefined || actions.length === 0) {
      throw new Error(
        `for commits to ${node.path} ${unknown ?? "nothing"} is granted: give some of ${COMMIT_ACTIONS.join(", ")}`,
      );
    }
    const resourceArns = [tableArn];
    const grant = Grant.addToPrincipal({
      grantee,
      actions,
      resourceArns,
      conditions: { ...IN_TRANSACTIONS },
    });
    return withTableKey(grant, encryptionKey, grantee);
  }
}
