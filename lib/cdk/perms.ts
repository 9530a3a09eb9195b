// Permissions that principals need in addition to the actions: to use the key that encrypts a resource.
import { Grant, type IGrantable, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";

/**
 * What DynamoDB needs to use a customer managed key for principals that read and write a table:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
 */
const TABLE_KEY_ACTIONS = [
  "kms:Decrypt",
  "kms:DescribeKey",
  "kms:Encrypt",
  "kms:GenerateDataKey",
  "kms:GenerateDataKeyWithoutPlaintext",
  "kms:ReEncryptFrom",
  "kms:ReEncryptTo",
];

/**
 * What a sender to a queue or a topic needs:
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
 */
const SENDING_KEY_ACTIONS = ["kms:Decrypt", "kms:GenerateDataKey"];

/** Without it every request to the table fails with an AccessDeniedException. */
export function withTableKey(grant: Grant, key: IKey | undefined, grantee: IGrantable): Grant {
  return key ? grant.combine(grantKey(key, grantee, "dynamodb", TABLE_KEY_ACTIONS)) : grant;
}

/** Grants one action on one resource, such as `sqs:SendMessage`, and the use of its key. */
export function grantSending(
  grantee: IGrantable,
  { action, arn, key }: { readonly action: string; readonly arn: string; readonly key?: IKey },
): Grant {
  const grant = Grant.addToPrincipal({ grantee, actions: [action], resourceArns: [arn] });
  const [service = ""] = action.split(":");
  return key ? grant.combine(grantKey(key, grantee, service, SENDING_KEY_ACTIONS)) : grant;
}

/**
 * Grants use of the key through the service only. With direct use, a principal could decrypt other data under the key, and
 * copies of it.
 * https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
 */
function grantKey(key: IKey, grantee: IGrantable, service: string, actions: readonly string[]): Grant {
  const services = ["amazonaws.com", "amazonaws.com.cn"].map((suffix) => `${service}.*.${suffix}`);
  const conditions = { StringLike: { "kms:ViaService": services } };
  const use = new PolicyStatement({ actions: [...actions], resources: [key.keyArn], conditions });
  const grant = key.grant(granteeOf(grantee, use), ...actions);
  if ("aliasName" in key && !grant.success) {
    throw new Error(
      `the key ${key.node.path} is referenced by an alias, and CDK grants nothing on an alias: every request would be refused. Pass the key itself, from Key.fromKeyArn or Key.fromLookup`,
    );
  }
  // Also covers the key's own policy, if the key is in this app.
  for (const statement of [...grant.principalStatements, ...grant.resourceStatements]) {
    statement.addCondition("StringLike", conditions.StringLike);
  }
  return grant;
}

/**
 * The grantee, with this statement added to its policy instead of CDK's. For a key in another account, or one whose ARN is a
 * token, CDK grants the actions on every key, and doesn't return the statement, so no condition could be added to it.
 */
function granteeOf(grantee: IGrantable, use: PolicyStatement): IGrantable {
  const { grantPrincipal } = grantee;
  const grantPrincipalOfUse = new Proxy(grantPrincipal, {
    get: (target, name) =>
      name === "addToPrincipalPolicy"
        ? () => target.addToPrincipalPolicy(use)
        : bound(target, Reflect.get(target, name)),
  });
  return new Proxy(grantee, {
    get: (target, name) =>
      name === "grantPrincipal" ? grantPrincipalOfUse : bound(target, Reflect.get(target, name)),
  });
}

/** Methods of constructs use private fields, which a proxy doesn't have. */
const bound = (target: object, value: unknown): unknown =>
  typeof value === "function" ? value.bind(target) : value;
