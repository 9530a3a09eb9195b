// The rights of principals beside the actions themselves: the use of the key that encrypts a resource.
import { Grant, type IGrantable, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";

/**
 * DynamoDB's use of a customer managed key for principals that read and write a table.
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
 * The rights of a sender to a queue or a topic:
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
 */
const SENDING_KEY_ACTIONS = ["kms:Decrypt", "kms:GenerateDataKey"];

/** Without it every request to the table is an AccessDeniedException. */
export function withTableKey(grant: Grant, key: IKey | undefined, grantee: IGrantable): Grant {
  return key ? grant.combine(grantKey(key, grantee, "dynamodb", TABLE_KEY_ACTIONS)) : grant;
}

/** One action of a service on one resource, such as `sqs:SendMessage`, and the use of its key. */
export function grantSending(
  grantee: IGrantable,
  { action, arn, key }: { readonly action: string; readonly arn: string; readonly key?: IKey },
): Grant {
  const grant = Grant.addToPrincipal({ grantee, actions: [action], resourceArns: [arn] });
  const [service = ""] = action.split(":");
  return key ? grant.combine(grantKey(key, grantee, service, SENDING_KEY_ACTIONS)) : grant;
}

/**
 * Through the service alone: with the key itself a principal could decrypt other data under the key, and
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
      `the key ${key.node.path} is known by an alias, for which CDK grants nothing: every request would be refused. Give the key itself, by Key.fromKeyArn or Key.fromLookup`,
    );
  }
  // The key's own policy, if the key is of this app.
  for (const statement of [...grant.principalStatements, ...grant.resourceStatements]) {
    statement.addCondition("StringLike", conditions.StringLike);
  }
  return grant;
}

/**
 * The grantee, whose policy gets this statement instead of CDK's own: for a key of another account or by a token CDK grants the
 * actions on every key, and doesn't hand out the statement that a condition could be added to.
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

/** Methods of constructs use private fields, which a proxy has not. */
const bound = (target: object, value: unknown): unknown =>
  typeof value === "function" ? value.bind(target) : value;
