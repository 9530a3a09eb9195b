/** CreateQueue, DeleteQueue and SetQueueAttributes. */
import type { SqsHandler } from "./handler.ts";
import type { SqsOperations } from "./operations.ts";
import { Queue } from "./queue.ts";
import { asksForFifo, defaultAttributes, type QueueAttributes, withAttributes } from "./queue-attributes.ts";
import { checkQueueName } from "./queue-name.ts";
import { checkRedriveAllowPolicy, checkRedrivePolicy } from "./redrive-permission.ts";
import type { SqsService } from "./service.ts";
import { missingParameter, SqsError } from "./sqs-error.ts";

/**
 * How long the name of a deleted queue cannot be used again:
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteQueue.html
 */
const NAME_REST_MS = 60_000;

export const createQueue: SqsHandler<"CreateQueue"> = (service, { QueueName, Attributes = {} }) => {
  if (!QueueName) throw missingParameter("QueueName");
  const isFifo = asksForFifo(Attributes);
  checkQueueName(QueueName, isFifo);
  const existing = service.queues.get(QueueName);
  if (existing !== undefined) return sameQueue(existing, Attributes);
  const now = service.now();
  if (now - (service.deletedAt.get(QueueName) ?? Number.NEGATIVE_INFINITY) < NAME_REST_MS) {
    throw new SqsError(
      "QueueDeletedRecently",
      "You must wait 60 seconds after deleting a queue before you can create another with the same name.",
    );
  }
  const identity = {
    name: QueueName,
    arn: service.arnOf(QueueName),
    url: service.urlOf(QueueName),
    isFifo,
  };
  const attributes = withAttributes(defaultAttributes(isFifo), Attributes);
  checkPolicies(service, identity, Attributes);
  const { random, maxScanned, disorderOf } = service.options;
  const queue = new Queue(identity, attributes, { random, maxScanned, disorder: disorderOf(QueueName) }, now);
  service.queues.set(QueueName, queue);
  return { QueueUrl: queue.url };
};

export const deleteQueue: SqsHandler<"DeleteQueue"> = (service, { QueueUrl }) => {
  const queue = service.queueByUrl(QueueUrl);
  queue.clear();
  service.queues.delete(queue.name);
  service.deletedAt.set(queue.name, service.now());
  return {};
};

export const setQueueAttributes: SqsHandler<"SetQueueAttributes"> = (service, { QueueUrl, Attributes }) => {
  const queue = service.queueByUrl(QueueUrl);
  const attributes = withAttributes(queue.attributes, Attributes);
  checkPolicies(service, queue, Attributes);
  queue.setAttributes(attributes, service.now());
  return {};
};

/** Creating an existing queue succeeds if every given attribute has its present value. */
function sameQueue(queue: Queue, asked: QueueAttributes): SqsOperations["CreateQueue"]["output"] {
  const attributes = withAttributes(queue.attributes, asked);
  const names = new Set([...Object.keys(attributes), ...Object.keys(queue.attributes)]);
  for (const name of names) {
    if (attributes[name] === queue.attributes[name]) continue;
    throw new SqsError(
      "QueueNameExists",
      `A queue already exists with the same name and a different value for attribute ${name}`,
    );
  }
  return { QueueUrl: queue.url };
}

function checkPolicies(
  service: SqsService,
  queue: { readonly arn: string; readonly isFifo: boolean },
  { RedrivePolicy, RedriveAllowPolicy }: QueueAttributes,
): void {
  if (RedrivePolicy) checkRedrivePolicy(RedrivePolicy, queue, (arn) => service.findByArn(arn));
  if (RedriveAllowPolicy) checkRedriveAllowPolicy(RedriveAllowPolicy);
}
