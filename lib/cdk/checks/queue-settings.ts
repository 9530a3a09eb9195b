// What SQS does where a template says nothing.
import { Token } from "aws-cdk-lib";
import type { CfnQueue } from "aws-cdk-lib/aws-sqs";

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html */
export const SQS_DEFAULTS = { visibilityTimeout: 30, messageRetentionPeriod: 345_600 };

/** The queue's own settings; SQS decides on missing ones. `NaN` for what is known at deployment only. */
export function settingsOf({ visibilityTimeout, messageRetentionPeriod }: CfnQueue): typeof SQS_DEFAULTS {
  return {
    visibilityTimeout: known(visibilityTimeout ?? SQS_DEFAULTS.visibilityTimeout),
    messageRetentionPeriod: known(messageRetentionPeriod ?? SQS_DEFAULTS.messageRetentionPeriod),
  };
}

const known = (seconds: number) => (Token.isUnresolved(seconds) ? Number.NaN : seconds);
