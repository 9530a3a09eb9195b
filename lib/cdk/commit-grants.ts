// Grants writes to your own tables, which handlers commit together with their record.
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { Grant, type IGrantable } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { expectKey } from "./checks/encryption-keys.ts";
import { checkCommitPlace } from "./checks/placement.ts";
import { checkTransactions } from "./checks/table-resources.ts";
import { IN_TRANSACTIONS } from "./leading-keys.ts";
import { withTableKey } from "./perms.ts";

/** The actions within a transaction. The transaction itself isn't an IAM action. */
const COMMIT_ACTIONS = [
  "dynamodb:ConditionCheckItem",
  "dynamodb:DeleteItem",
  "dynamodb:PutItem",
  "dynamodb:UpdateItem",
] as const;

export type CommitAction = (typeof COMMIT_ACTIONS)[number];

/**
 * Lets a function write to your own table only within a transaction, as `commit` does; IAM denies other writes.
 * `CommitGrants.fromTable(orders).actions(createOrder, "dynamodb:PutItem")`.
 *
 * IAM sees that a write is in a transaction, but neither the other writes nor the condition. So the grant stops code that
 * bypasses `commit` by mistake, but not code that does so on purpose: IAM allows a transaction without the record, with any
 * item of the table and any values.
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
   * Grants these actions on the table within transactions, and the use of the table's customer managed key if it has one.
   * @throws Error for an action that transactions don't support, and for a table in another account or region than the function
   */
  actions(grantee: IGrantable, ...actions: CommitAction[]): Grant {
    const { tableArn, encryptionKey, node } = this.#table;
    const unknown = actions.find((action) => !COMMIT_ACTIONS.includes(action));
    if (unknown !== undefined || actions.length === 0) {
      throw new Error(
        `the actions granted for commits to ${node.path} ${unknown === undefined ? "are empty" : `include ${unknown}`}: use ${COMMIT_ACTIONS.join(", ")}`,
      );
    }
    if (Construct.isConstruct(grantee) && "functionArn" in grantee) checkCommitPlace(grantee, this.#table);
    checkTransactions(this.#table);
    expectKey(this.#table, this.#table, tableArn, encryptionKey);
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
