// Whether an IAM policy that a Lambda authorizer returned allows one request: an explicit deny wins, and
// anything not allowed is denied. Pure.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-output.html

/** A request is denied as well if the policy cannot be read. */
export function policyAllows(policyDocument: unknown, routeArn: string): boolean {
  const statements = [(policyDocument as { Statement?: unknown })?.Statement ?? []].flat() as Statement[];
  const matching = statements.filter((statement) => statementMatches(statement, routeArn));
  return (
    matching.some(({ Effect }) => Effect === "Allow") && !matching.some(({ Effect }) => Effect === "Deny")
  );
}

interface Statement {
  readonly Effect?: unknown;
  readonly Action?: unknown;
  readonly Resource?: unknown;
  readonly Condition?: unknown;
}

function statementMatches(statement: Statement, routeArn: string): boolean {
  // Conditions are not evaluated: such a statement still denies, but it never allows.
  if (statement.Condition !== undefined && statement.Effect !== "Deny") return false;
  return (
    matchesAny(statement.Action, "execute-api:Invoke", "i") && matchesAny(statement.Resource, routeArn, "")
  );
}

function matchesAny(patterns: unknown, value: string, flags: string): boolean {
  return [patterns ?? []].flat().some((pattern) => {
    const source = String(pattern)
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replaceAll("*", ".*")
      .replaceAll("?", ".");
    return new RegExp(`^${source}$`, flags).test(value);
  });
}
