// Answers findings of rule packs such as cdk-nag that a construct causes on purpose. It depends on none of
// them.
import { Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/** @param id of the one finding, with its pack: `AwsSolutions::AwsSolutions-SQS3` */
export function acknowledge(construct: IConstruct, id: string, reason: string): void {
  try {
    // Older versions of aws-cdk-lib know no such rules.
    (Validations as typeof Validations | undefined)?.of(construct).acknowledge({ id, reason });
  } catch (error) {
    // Up to 2.268 it refuses the id of a single finding, such as `AwsSolutions-IAM5[Resource::*]`. The finding is then shown.
    if (!/Invalid validation rule ID/.test(String(error))) throw error;
  }
}
