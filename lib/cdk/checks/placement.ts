// Where a function and its table are: a name reaches a table of the own account and region only.
import { Stack, Token, TokenComparison } from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import type { IIdempotencyTable } from "../idempotency-table-base.ts";

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
