// Where a function and its table are: a name reaches a table of the own account and region only.
import { Annotations, Stack, Token, TokenComparison } from "aws-cdk-lib";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { IConstruct } from "constructs";
import type { IIdempotencyTable } from "../idempotency-table-interface.ts";

/** @throws Error for a table of another region, where both regions are known */
export function checkRegion(user: IConstruct, { table, node }: IIdempotencyTable): void {
  const own = Stack.of(user).region;
  const { region } = table.env;
  // A region that is known beside one that is not may be the same.
  if (Token.isUnresolved(own) || Token.isUnresolved(region) || own === region) return;
  throw new Error(
    `${user.node.path} is in ${own}, and ${node.path} is a table of ${region}: its name means another table in ${own}, or none. Use a table of ${own}`,
  );
}

/** The name of a table of the same account; the ARN of another one, which DynamoDB takes in its place. */
export function tableFor(user: IConstruct, { table }: IIdempotencyTable): string {
  const isOther =
    Token.compareStrings(Stack.of(user).account, table.env.account) === TokenComparison.DIFFERENT;
  return isOther ? table.tableArn : table.tableName;
}

/**
 * A transaction is of one account and region.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 * @throws Error for a table of another account or region, where both are known
 */
export function checkCommitPlace(user: IConstruct, { env, node }: ITable): void {
  const { account, region } = Stack.of(user);
  for (const [own, other] of [
    [region, env.region],
    [account, env.account],
  ] as const) {
    if (Token.compareStrings(own, other) !== TokenComparison.DIFFERENT) continue;
    throw new Error(
      `${node.path} is a table of ${other}, and ${user.node.path} is in ${own}: a transaction is of one account and region, so that no commit there is possible. Send a message there instead`,
    );
  }
}

/** A warning, since the other tables of its commits may be of that account too. */
export function warnOfFarCommits(user: IConstruct, { table, node }: IIdempotencyTable): void {
  const { account } = Stack.of(user);
  if (Token.compareStrings(account, table.env.account) !== TokenComparison.DIFFERENT) return;
  Annotations.of(user).addWarningV2(
    "onceonly:far-commits",
    `${user.node.path} commits to ${node.path}, a table of the account ${table.env.account}: a transaction is of one account, so that no table of ${account} can be in it. Use a table of ${account}, or acknowledge this where every table of its commits is of that account`,
  );
}
