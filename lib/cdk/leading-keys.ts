// Limits a grant to the records of some operations, by their key prefix. No I/O.
import { Token } from "aws-cdk-lib";

/** Conditions of an IAM statement. */
export type Conditions = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

export const IN_TRANSACTIONS: Conditions = {
  "ForAnyValue:StringEquals": { "dynamodb:EnclosingOperation": ["TransactWriteItems"] },
};

/**
 * A record's key is `<operation>#<scope>#<hash>`. The keys of the items of its large result and of its messages start with the
 * record's key.
 */
export function leadingKeyConditions(
  operations: readonly string[] | undefined,
  scopeTag: string | undefined,
): Conditions {
  if (operations === undefined) {
    if (scopeTag === undefined) return {};
    // The scope is the second part of the key, and a wildcard before it would also match later parts.
    throw new Error(`scopeTag is ${scopeTag}, but operations isn't set: name the operations as well`);
  }
  if (Token.isUnresolved(operations)) {
    throw new Error(
      "operations is a list that's only known at deployment, but IAM needs a pattern for each name: pass an array (a name may contain a token, such as the stack's region)",
    );
  }
  if (operations.length === 0)
    throw new Error("operations is an empty array: name at least one operation, or leave it out");
  const scope = scopeTag === undefined ? "" : `${scopeVariable(scopeTag)}#`;
  const patterns = operations.map((operation) => `${literal(operation)}#${scope}*`);
  return {
    "ForAllValues:StringLike": { "dynamodb:LeadingKeys": patterns },
    // Without this, a request without leading keys, such as a scan, would satisfy "for all values".
    Null: { "dynamodb:LeadingKeys": "false" },
    // An empty tag would make the pattern match records without a scope.
    ...(scopeTag !== undefined && { StringLike: { [`aws:PrincipalTag/${scopeTag}`]: "?*" } }),
  };
}

/**
 * The operation as it's encoded in the key (core/identity.ts), without characters that IAM reads as wildcards or variables. A
 * part that is only known at deployment, such as `stack.region`, isn't changed.
 */
function literal(operation: string): string {
  if (operation === "")
    throw new Error("operations contains an empty string: pass the `operation` of each handler");
  if (NUMBER_TOKEN.test(operation)) {
    throw new Error(
      "operations contains a name with a number that's only known at deployment, which CDK can't put into a string: use Tokenization.stringifyNumber for it",
    );
  }
  return operation
    .split(/(\$\{Token\[.*?\]\})/)
    .map((part) => (Token.isUnresolved(part) ? part : escaped(part)))
    .join("");
}
const escaped = (text: string) =>
  text.replace(/[#%\p{Cc}]/gu, encodeURIComponent).replace(/[*?$]/g, (sign) => `\${${sign}}`);

/** How CDK's number tokens look in a template literal. */
const NUMBER_TOKEN = /-1\.8881545897\d*e\+289/;

/** Characters allowed in a tag's key: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html */
function scopeVariable(tag: string): string {
  if (Token.isUnresolved(tag)) {
    throw new Error(
      "scopeTag is only known at deployment, but it becomes part of an IAM condition key: pass the tag's key as a plain string",
    );
  }
  if (/^[\p{L}\p{Z}\p{N}_.:/=+\-@]{1,128}$/u.test(tag)) return `\${aws:PrincipalTag/${tag}}`;
  throw new Error(
    `scopeTag is ${JSON.stringify(tag)}, which isn't a valid tag key: pass the key of a session tag`,
  );
}
