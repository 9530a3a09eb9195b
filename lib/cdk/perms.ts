// What principals need beside the actions themselves: the use of the key that encrypts a resource.
// It may touch aws-cdk-lib only.
import { Grant, type IGrantable } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";

/**
 * What DynamoDB does with a customer managed key on behalf of whoever reads and writes a table.
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

/** What whoever sends to a queue or a topic needs: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html */
const SENDING_KEY_ACTIONS = ["kms:Decrypt", "kms:GenerateDataKey"];

/** Without it every request to the table is an AccessDeniedException. */
export function withTableKey(grant: Grant, key: IKey | undefined, grantee: IGrantable): Grant {
  return key ? grant.combine(key.grant(grantee, ...TABLE_KEY_ACTIONS)) : grant;
}

/** One action on one resource, and the use of its key. */
export function grantSending(
  grantee: IGrantable,
  { action, arn, key }: { readonly action: string; readonly arn: string; readonly key?: IKey },
): Grant {
  const grant = Grant.addToPrincipal({ grantee, actions: [action], resourceArns: [arn] });
  return key ? grant.combine(key.grant(grantee, ...SENDING_KEY_ACTIONS)) : grant;
}
