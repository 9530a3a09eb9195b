// Grants writes to your own tables that handlers commit together with their record.
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { Grant, type IGrantable } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { expectKey } from "./checks/encryption-keys.ts";
import { checkCommitPlace } from "./checks/placement.ts";
import { checkTransactions } from "./checks/table-resources.ts";
import { IN_TRANSACTIONS } from "./leading-keys.ts";
import { withTableKey } from "./perms.ts";

/** The actions of a transaction; the transaction itself is no action. */
const COMMIT_ACTIONS = [
  "dynamodb:ConditionCheckItem",
  "dynamodb:DeleteItem",
  "dynamodb:PutItem",
  "dynamodb:UpdateItem",
] as const;

export type CommitAction = (typeof COMMIT_ACTIONS)[number];

/**
 * Writes to your own table that are committed together with a record, or not at all: outside a transaction
 * IAM refuses them. `CommitGrants.fromTable(orders).actions(createOrder, "dynamodb:PutItem")`.
 *
 * IAM sees that a write is in a transaction, but neither the other writes nor the condition. So the grant
 * stops code that bypasses `commit` by mistake. It does not stop code that intends to: a transaction without
 * the record passes, with any item of the table and any values.
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
   * Grants these actions on the table within transactions, and the use of the table's customer key if it has
   * one.
   * @throws Error for an action that transactions do not have, and for a table of another account or region than the function's
   */
  actions(grantee: IGrantable, ...actions: CommitAction[]): Grant {
    const { tableArn, encryptionKey, node } = this.#table;
    const unknown = actions.find((action) => !COMMIT_ACTIONS.includes(action));
    if (unknown !== undefined || actions.length === 0) {
      throw new Error(
        `for commits to ${node.path} ${unknown ?? "nothing"} is granted: give some of ${COMMIT_ACTIONS.join(", ")}`,
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
