// The destinations of committed messages, and the permissions to send there.
import type { IResource } from "aws-cdk-lib";
import type { IEventBus } from "aws-cdk-lib/aws-events";
import type { Grant, IGrantable } from "aws-cdk-lib/aws-iam";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { grantSending } from "./perms.ts";

/** A standard or FIFO queue, a topic, or an event bus. */
export type OutboxDestination = IQueue | ITopic | IEventBus;

/** The addresses that messages use. An event bus in the same account and Region can also be addressed by its name. */
export function addressesOf(destination: OutboxDestination, { env }: IResource): string[] {
  if ("queueUrl" in destination) return [destination.queueUrl];
  if ("topicArn" in destination) return [destination.topicArn];
  const isNear = destination.env.account === env.account && destination.env.region === env.region;
  return isNear ? [destination.eventBusArn, destination.eventBusName] : [destination.eventBusArn];
}

/** Grants exactly the permissions to send. */
export function grantSendingTo(destination: OutboxDestination, grantee: IGrantable): Grant {
  if ("queueArn" in destination) {
    const { queueArn: arn, encryptionMasterKey: key } = destination;
    return grantSending(grantee, { action: "sqs:SendMessage", arn, key });
  }
  if ("topicArn" in destination) {
    const { topicArn: arn, masterKey: key } = destination;
    return grantSending(grantee, { action: "sns:Publish", arn, key });
  }
  // EventBridge accepts events for a missing bus and drops them, so the sender first checks that the bus exists.
  const arn = destination.eventBusArn;
  const asking = grantSending(grantee, { action: "events:DescribeEventBus", arn });
  return grantSending(grantee, { action: "events:PutEvents", arn }).combine(asking);
}
