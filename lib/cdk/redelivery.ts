// How long after its first delivery a queue may deliver a message again, read from the constructs of the queue.
// It may touch aws-cdk-lib and constructs only.
import { CfnResource, Token } from "aws-cdk-lib";
import { CfnEventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { CfnQueue } from "aws-cdk-lib/aws-sqs";
import type { IConstruct } from "constructs";
import { isPartOf, referencedBy } from "./references.ts";

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html */
const SQS_DEFAULTS = { visibilityTimeout: 30, messageRetentionPeriod: 345_600 };

/** The longest redelivery, as a number and as the sum that it is; or what of it is not known at synthesis. */
export type Redelivery = { readonly seconds: number; readonly sum: string } | { readonly unknown: string };

/** A queue that a function consumes. */
export interface ConsumedQueue {
  readonly path: string;
  /** Absent where it is not of this app. */
  readonly queue?: CfnQueue;
}

/** The queues that are event sources of a function, of its versions or of its aliases. */
export function queuesOf(fn: IConstruct): ConsumedQueue[] {
  return fn.node.root.node
    .findAll()
    .filter((each) => isResource(each, CfnEventSourceMapping))
    .filter((mapping) => referencedBy(mapping.functionName, mapping).some((each) => isPartOf(each, fn)))
    .flatMap((mapping): ConsumedQueue[] => {
      const sources = referencedBy(mapping.eventSourceArn, mapping);
      const queue = sources.find((each) => isResource(each, CfnQueue));
      if (queue) return [{ path: ownerPath(queue), queue }];
      // Of what else there is only the ARN can tell whether it is a queue.
      const isImportedQueue = sources.length === 0 && /:sqs:/.test(`${mapping.eventSourceArn}`);
      return isImportedQueue ? [{ path: ownerPath(mapping) }] : [];
    });
}

/** Visibility timeout × receives + retention of the queue + retention of its dead-letter queue. */
export function redeliveryOf({ path, queue }: ConsumedQueue): Redelivery {
  if (!queue) return { unknown: `the queue that ${path} reads is not made in this app` };
  const { visibilityTimeout, messageRetentionPeriod } = settingsOf(queue);
  const waiting: Term = { factors: [messageRetentionPeriod], text: `${messageRetentionPeriod} s in ${path}` };
  if (queue.redrivePolicy === undefined) return sumOf([waiting], path);
  const { maxReceiveCount, deadLetterTargetArn } = Object(queue.redrivePolicy) as Record<string, unknown>;
  const deadLetterQueue = referencedBy(deadLetterTargetArn, queue).find((each) => isResource(each, CfnQueue));
  if (!deadLetterQueue) return { unknown: `the dead-letter queue of ${path} is not made in this app` };
  const inDeadLetters = settingsOf(deadLetterQueue).messageRetentionPeriod;
  const receiving: Term = {
    factors: [visibilityTimeout, Number(maxReceiveCount)],
    text: `visibility timeout ${visibilityTimeout} s × ${String(maxReceiveCount)} receives`,
  };
  const parked: Term = {
    factors: [inDeadLetters],
    text: `${inDeadLetters} s in ${ownerPath(deadLetterQueue)}`,
  };
  return sumOf([receiving, waiting, parked], path);
}

interface Term {
  readonly factors: readonly number[];
  readonly text: string;
}

function sumOf(terms: readonly Term[], path: string): Redelivery {
  if (terms.flatMap(({ factors }) => factors).some((factor) => Token.isUnresolved(factor))) {
    return { unknown: `a number of ${path} or of its dead-letter queue is known at deployment only` };
  }
  const seconds = terms.reduce((sum, { factors }) => sum + factors.reduce((a, b) => a * b), 0);
  return { seconds, sum: terms.map(({ text }) => text).join(" + ") };
}

/** What a queue says of itself; what it does not say is left to SQS. */
export function settingsOf({ visibilityTimeout, messageRetentionPeriod }: CfnQueue): typeof SQS_DEFAULTS {
  return {
    visibilityTimeout: visibilityTimeout ?? SQS_DEFAULTS.visibilityTimeout,
    messageRetentionPeriod: messageRetentionPeriod ?? SQS_DEFAULTS.messageRetentionPeriod,
  };
}

/** The path that a user knows: that of the construct around the resource. */
export function ownerPath(resource: IConstruct): string {
  const { scope, id, path } = resource.node;
  return scope && id === "Resource" ? ownerPath(scope) : path;
}

/** Not instanceof: an app may hold two copies of aws-cdk-lib. */
function isResource<T extends CfnResource>(
  construct: IConstruct,
  type: { readonly CFN_RESOURCE_TYPE_NAME: string } & (new (...args: never[]) => T),
): construct is T {
  return CfnResource.isCfnResource(construct) && construct.cfnResourceType === type.CFN_RESOURCE_TYPE_NAME;
}
