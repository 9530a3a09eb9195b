// Limits a grant to the records of some operations, by the beginning of their keys. No I/O.
import { Token } from "aws-cdk-lib";

/** Statement conditions as IAM writes them. */
export type Conditions = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

export const IN_TRANSACTIONS: Conditions = {
  "ForAnyValue:StringEquals": { "dynamodb:EnclosingOperation": ["TransactWriteItems"] },
};

/**
 * A record is `<operation>#<scope>#<hash>`, and the items of its large result and of its messages begin with the record's
 * own key.
 */
export function leadingKeyConditions(
  operations: readonly string[] | undefined,
  scopeTag: string | undefined,
): Conditions {
  if (operations === undefined) {
    if (scopeTag === undefined) return {};
    // The scope is second in the key, and a wildcard before it would also match later parts.
    throw new Error(`scopeTag is ${scopeTag} and operations is not given: name the operations as well`);
  }
  if (Token.isUnresolved(operations)) {
    throw new Error(
      "operations is a list that is only known at deployment, and IAM needs a pattern for each name: give an array, and a name may have a part such as the Region of the stack",
    );
  }
  if (operations.length === 0) throw new Error("operations is empty: name at least one, or leave it out");
  const scope = scopeTag === undefined ? "" : `${scopeVariable(scopeTag)}#`;
  const patterns = operations.map((operation) => `${literal(operation)}#${scope}*`);
  return {
    "ForAllValues:StringLike": { "dynamodb:LeadingKeys": patterns },
    // A request without leading keys, such as a scan, would satisfy "for all values".
    Null: { "dynamodb:LeadingKeys": "false" },
    // An empty tag would turn the pattern into that of the records without a scope.
    ...(scopeTag !== undefined && { StringLike: { [`aws:PrincipalTag/${scopeTag}`]: "?*" } }),
  };
}

/**
 * The operation in the form of the key (core/identity.ts), without characters that IAM takes for wildcards or
 * variables. A part that is only known at deployment, such as `stack.region`, stays as it is.
 */
function literal(operation: string): string {
  if (operation === "")
    throw new Error("operations holds an empty name: give the `operation` of each handler");
  if (NUMBER_TOKEN.test(operation)) {
    throw new Error(
      "operations holds a name with a number that is only known at deployment, which CDK can't put into a string: use Tokenization.stringifyNumber for it",
    );
  }
  return operation
    .split(/(\$\{Token\[.*?\]\})/)
    .map((part) => (Token.isUnresolved(part) ? part : escaped(part)))
    .join("");
}
const escaped = (text: string) =>
  text.replace(/[#%\p{Cc}]/gu, encodeURIComponent).replace(/[*?$]/g, (sign) => `\${${sign}}`);

/** What is left of a number token that was put into a template literal. */
const NUMBER_TOKEN = /-1\.8881545897\d*e\+289/;

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html has the characters of a tag's key. */
function scopeVariable(tag: string): string {
  if (Token.isUnresolved(tag)) {
    throw new Error(
      "scopeTag is only known at deployment, and it is a part of a condition's name in IAM: give the key itself",
    );
  }
  if (/^[\p{L}\p{Z}\p{N}_.:/=+\-@]{1,128}$/u.test(tag)) return `\${aws:PrincipalTag/${tag}}`;
  throw new Error(
    `scopeTag is ${JSON.stringify(tag)}, which no tag can be called: give the key of a session tag`,
  );
}
