// The destinations of committed messages, and the right to send there.
import type { IResource } from "aws-cdk-lib";
import type { IEventBus } from "aws-cdk-lib/aws-events";
import type { Grant, IGrantable } from "aws-cdk-lib/aws-iam";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { grantSending } from "./perms.ts";

/** A queue, standard or FIFO, a topic, or an event bus. */
export type OutboxDestination = IQueue | ITopic | IEventBus;

/** The names that messages use: an event bus of the same account and Region also has its short name. */
export function addressesOf(destination: OutboxDestination, { env }: IResource): string[] {
  if ("queueUrl" in destination) return [destination.queueUrl];
  if ("topicArn" in destination) return [destination.topicArn];
  const isNear = destination.env.account === env.account && destination.env.region === env.region;
  return isNear ? [destination.eventBusArn, destination.eventBusName] : [destination.eventBusArn];
}

/** Exactly the rights to send. */
export function grantSendingTo(destination: OutboxDestination, grantee: IGrantable): Grant {
  if ("queueArn" in destination) {
    const { queueArn: arn, encryptionMasterKey: key } = destination;
    return grantSending(grantee, { action: "sqs:SendMessage", arn, key });
  }
  if ("topicArn" in destination) {
    const { topicArn: arn, masterKey: key } = destination;
    return grantSending(grantee, { action: "sns:Publish", arn, key });
  }
  // EventBridge accepts events for a missing bus, and drops them: the sender first asks whether the bus
  // exists.
  const arn = destination.eventBusArn;
  const asking = grantSending(grantee, { action: "events:DescribeEventBus", arn });
  return grantSending(grantee, { action: "events:PutEvents", arn }).combine(asking);
}
