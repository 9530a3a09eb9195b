// Where committed messages may be sent, and the right to send there. It may touch aws-cdk-lib only.
import type { IResource } from "aws-cdk-lib";
import type { IEventBus } from "aws-cdk-lib/aws-events";
import type { Grant, IGrantable } from "aws-cdk-lib/aws-iam";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { grantSending } from "./perms.ts";

/** A queue, standard or FIFO, a topic, or an event bus. */
export type OutboxDestination = IQueue | ITopic | IEventBus;

/** As messages name it: an event bus of the same account and Region by its name too. */
export function addressesOf(destination: OutboxDestination, { env }: IResource): string[] {
  if ("queueUrl" in destination) return [destination.queueUrl];
  if ("topicArn" in destination) return [destination.topicArn];
  const isNear = destination.env.account === env.account && destination.env.region === env.region;
  return isNear ? [destination.eventBusArn, destination.eventBusName] : [destination.eventBusArn];
}

/** Exactly what sending takes. */
export function grantSendingTo(destination: OutboxDestination, grantee: IGrantable): Grant {
  if ("queueArn" in destination) {
    const { queueArn: arn, encryptionMasterKey: key } = destination;
    return grantSending(grantee, { action: "sqs:SendMessage", arn, key });
  }
  if ("topicArn" in destination) {
    const { topicArn: arn, masterKey: key } = destination;
    return grantSending(grantee, { action: "sns:Publish", arn, key });
  }
  // EventBridge takes events for a bus that is not there, and drops them: it is asked first.
  const arn = destination.eventBusArn;
  const asking = grantSending(grantee, { action: "events:DescribeEventBus", arn });
  return grantSending(grantee, { action: "events:PutEvents", arn }).combine(asking);
}
