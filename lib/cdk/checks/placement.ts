// Where a function and its table are: a table name only works in the function's own account and region.
import { Annotations, Stack, Token, TokenComparison } from "aws-cdk-lib";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { IConstruct } from "constructs";
import type { IIdempotencyTable } from "../idempotency-table-interface.ts";

/** @throws Error for a table in another region, if both regions are known */
export function checkRegion(user: IConstruct, { table, node }: IIdempotencyTable): void {
  const own = Stack.of(user).region;
  const { region } = table.env;
  // If only one of the regions is known, they may be the same.
  if (Token.isUnresolved(own) || Token.isUnresolved(region) || own === region) return;
  throw new Error(
    `${user.node.path} is in ${own}, but ${node.path} is a table in ${region}: in ${own} that name refers to a different table, or to none. Use a table in ${own}`,
  );
}

/** A table's name in the same account, otherwise its ARN, which DynamoDB accepts instead. */
export function tableFor(user: IConstruct, { table }: IIdempotencyTable): string {
  const isOther =
    Token.compareStrings(Stack.of(user).account, table.env.account) === TokenComparison.DIFFERENT;
  return isOther ? table.tableArn : table.tableName;
}

/**
 * A transaction works within one account and region.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 * @throws Error for a table in another account or region, if both are known
 */
export function checkCommitPlace(user: IConstruct, { env, node }: ITable): void {
  const { account, region } = Stack.of(user);
  for (const [own, other] of [
    [region, env.region],
    [account, env.account],
  ] as const) {
    if (Token.compareStrings(own, other) !== TokenComparison.DIFFERENT) continue;
    throw new Error(
      `${node.path} is a table in ${other}, but ${user.node.path} is in ${own}: a transaction can't span accounts or regions, so no commit can include that table. Send a message there instead`,
    );
  }
}

/** Only a warning, because the other tables of its commits may be in that account too. */
export function warnOfFarCommits(user: IConstruct, { table, node }: IIdempotencyTable): void {
  const { account } = Stack.of(user);
  if (Token.compareStrings(account, table.env.account) !== TokenComparison.DIFFERENT) return;
  Annotations.of(user).addWarningV2(
    "onceonly:far-commits",
    `${user.node.path} commits to ${node.path}, a table in account ${table.env.account}: a transaction can't span accounts, so it can't include tables in ${account}. Use a table in ${account}, or acknowledge this if every table it commits to is in account ${table.env.account}`,
  );
}
