// The conditions under which an EventBridge rule can feed a FIFO queue.
import { Stack } from "aws-cdk-lib";
import type { CfnRule } from "aws-cdk-lib/aws-events";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { ownerPath } from "./event-sources.ts";
import { resourcesOfType } from "./resources.ts";

interface Target {
  readonly arn?: unknown;
  readonly sqsParameters?: { readonly messageGroupId?: unknown };
}

/**
 * Why rules of the app cannot feed the queue: their deployment fails, or all their events are lost.
 * https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_SqsParameters.html
 */
export function eventRuleFaults(queue: IQueue, isContentBased: boolean): string[] {
  return resourcesOfType(queue, "AWS::Events::Rule").flatMap((rule) => {
    const faults: string[] = [];
    for (const { sqsParameters } of targetsAt(rule as CfnRule, queue)) {
      const feeds = `the rule ${ownerPath(rule)} feeds the FIFO queue ${ownerPath(queue)}`;
      if (!isContentBased) {
        faults.push(`${feeds}, and EventBridge gives no deduplication ids: set contentBasedDeduplication`);
      }
      if (sqsParameters?.messageGroupId === undefined) {
        faults.push(`${feeds} without a messageGroupId: give one to its target, SqsQueue`);
      }
    }
    return faults;
  });
}

function targetsAt(rule: CfnRule, queue: IQueue): Target[] {
  // The rule's own stack decides: there an ARN of another stack is an import, or whatever CDK makes of it.
  const stack = Stack.of(rule);
  const arn = JSON.stringify(stack.resolve(queue.queueArn));
  const targets: readonly Target[] = stack.resolve(rule.targets) ?? [];
  return targets.filter((target) => JSON.stringify(target.arn) === arn);
}
