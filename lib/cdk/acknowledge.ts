// Acknowledges findings of rule packs such as cdk-nag that a construct causes on purpose. It depends on none of them.
import { Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/** @param id the id of one finding, including its pack: `AwsSolutions::AwsSolutions-SQS3` */
export function acknowledge(construct: IConstruct, id: string, reason: string): void {
  try {
    // Older versions of aws-cdk-lib don't have Validations.
    (Validations as typeof Validations | undefined)?.of(construct).acknowledge({ id, reason });
  } catch (error) {
    // Up to 2.268 CDK rejects the id of a single finding, such as `AwsSolutions-IAM5[Resource::*]`, so the finding is shown.
    if (!/Invalid validation rule ID/.test(String(error))) throw error;
  }
}
