// What roles of a template may do, one line per statement, for exact comparisons.
import type { Template } from "aws-cdk-lib/assertions";

interface Statement {
  readonly Action: string | string[];
  readonly Effect: string;
  readonly Resource: unknown;
  readonly Condition?: object;
}

export interface Right {
  readonly on: string;
  readonly actions: readonly string[];
  readonly condition?: object;
}

/** Every right of the one role whose logical id begins so: sorted actions by resource, in the order of their grants. */
export function rightsOf(template: Template, rolePrefix: string): Right[] {
  const statements = Object.values(template.findResources("AWS::IAM::Policy"))
    .filter(({ Properties }) =>
      Properties.Roles.some(({ Ref }: { Ref: string }) => Ref.startsWith(rolePrefix)),
    )
    .flatMap(({ Properties }): Statement[] => Properties.PolicyDocument.Statement);
  return statements.map(({ Action, Effect, Resource, Condition }) => {
    if (Effect !== "Allow") throw new Error(`a statement of ${rolePrefix} has the effect ${Effect}`);
    const right = { on: nameOf(Resource), actions: [Action].flat().sort() };
    return Condition === undefined ? right : { ...right, condition: Condition };
  });
}

/** The resource's logical id without its hash, and what follows its ARN. */
function nameOf(resource: unknown): string {
  const text = JSON.stringify(resource);
  const [, logicalId, attribute = "Arn"] =
    /"(?:Ref":|Fn::GetAtt":\[)"(\w+?)[0-9A-F]{8}"(?:,"(\w+)"\])?/.exec(text) ?? [];
  const [, suffix = ""] = /\]\},"([/:][^"]+)"/.exec(text) ?? [];
  if (logicalId === undefined) return text;
  return `${logicalId}${attribute === "Arn" ? "" : `.${attribute}`}${suffix}`;
}

/** What Lambda does to a queue in the name of a function. */
export const RECEIVING = [
  "sqs:ChangeMessageVisibility",
  "sqs:DeleteMessage",
  "sqs:GetQueueAttributes",
  "sqs:GetQueueUrl",
  "sqs:ReceiveMessage",
];

/** Records without messages, written by an operation that commits none. */
export const WITHOUT_MESSAGES = {
  "ForAllValues:StringNotEquals": {
    "dynamodb:Attributes": [
      "messages",
      "messageItems",
      "unsentShard",
      "unsentSince",
      "delivery",
      "sendingUntil",
      "sender",
      "notes",
    ],
  },
};

/** What an operation with default options does to the table of its records. */
export const runsOperationsOn = (on: string): Right[] => [
  { on, actions: ["dynamodb:GetItem"] },
  { on, actions: ["dynamodb:PutItem", "dynamodb:UpdateItem"], condition: WITHOUT_MESSAGES },
];

/** The condition of a statement about a key: whose requests alone may use it. */
export const through = (service: string) => ({
  StringLike: { "kms:ViaService": [`${service}.*.amazonaws.com`, `${service}.*.amazonaws.com.cn`] },
});
