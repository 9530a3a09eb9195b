// Queues: standard and FIFO, with every attribute of the template, in the local SQS.
import type { Deployed, DeployResource } from "../deploy-resource.ts";
import type { ResolvedResource } from "../local-environment.ts";
import { checkUnused, type LocalEnvironment, notRunLine, queueOfArn } from "../local-environment.ts";

const ATTRIBUTES = [
  "ContentBasedDeduplication",
  "DeduplicationScope",
  "DelaySeconds",
  "FifoQueue",
  "FifoThroughputLimit",
  "KmsDataKeyReusePeriodSeconds",
  "KmsMasterKeyId",
  "MaximumMessageSize",
  "MessageRetentionPeriod",
  "ReceiveMessageWaitTimeSeconds",
  "RedriveAllowPolicy",
  "RedrivePolicy",
  "SqsManagedSseEnabled",
  "VisibilityTimeout",
] as const;

async function deployQueue(resource: ResolvedResource, environment: LocalEnvironment): Promise<Deployed> {
  const { logicalId, path } = resource;
  const properties = withoutForeignDeadLetters(resource, environment);
  const attributes = attributesOf(properties);
  const { QueueName = nameOf(resource.generatedName, attributes) } = properties;
  const name = String(QueueName);
  const { model } = environment.sqs;
  const others = [...environment.queues.values()];
  checkUnused(
    others.map((each) => each.name),
    name,
    path,
  );
  const creation = model.call("CreateQueue", { QueueName: name, Attributes: attributes });
  const { QueueUrl: url } = await creation.catch((error: Error) => {
    throw new Error(`queue ${path} (${logicalId}) was rejected: ${error.message}`, { cause: error });
  });
  const { Attributes } = await model.call("GetQueueAttributes", {
    QueueUrl: url,
    AttributeNames: ["QueueArn"],
  });
  const arn = String(Attributes?.QueueArn);
  environment.queues.set(path, { logicalId, name, arn, url });
  return { ref: url, attributes: { Arn: arn, QueueName: name, QueueUrl: url } };
}

/** A dead-letter queue that another app owns isn't here, and SQS refuses a queue without its dead-letter queue. */
function withoutForeignDeadLetters(resource: ResolvedResource, environment: LocalEnvironment) {
  const { RedrivePolicy, ...others } = resource.properties;
  const policy = typeof RedrivePolicy === "string" ? parsed(RedrivePolicy) : Object(RedrivePolicy);
  const { deadLetterTargetArn: arn } = policy;
  if (typeof arn !== "string" || queueOfArn(environment, arn)) return resource.properties;
  environment.notRun.push(notRunLine(resource, `its dead-letter queue ${arn} isn't a queue of this run`));
  return others;
}

function parsed(text: string) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** `false` asks for a standard queue in a template, and is refused by SQS itself. */
function attributesOf(properties: Readonly<Record<string, unknown>>): Record<string, string> {
  const given = ATTRIBUTES.filter(
    (name) =>
      properties[name] !== undefined && !(name === "FifoQueue" && String(properties[name]) === "false"),
  );
  return Object.fromEntries(given.map((name) => [name, textOf(properties[name])]));
}

function textOf(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function nameOf(generatedName: string, { FifoQueue }: Readonly<Record<string, string>>): string {
  return FifoQueue === undefined ? generatedName : `${generatedName}.fifo`;
}

export const QUEUE_TYPES: Readonly<Record<string, DeployResource>> = {
  "AWS::SQS::Queue": deployQueue,
};
