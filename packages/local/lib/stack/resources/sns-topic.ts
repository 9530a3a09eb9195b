// Topics and their subscriptions, in the local SNS.
import type { Deployed, DeployResource } from "../deploy-resource.ts";
import type { ResolvedResource } from "../local-environment.ts";
import {
  checkUnused,
  functionOfArn,
  type LocalEnvironment,
  notRunLine,
  queueOfArn,
} from "../local-environment.ts";

type Properties = Readonly<Record<string, unknown>>;

async function deployTopic(resource: ResolvedResource, environment: LocalEnvironment): Promise<Deployed> {
  const { logicalId, path, properties, generatedName } = resource;
  const isFifo = String(properties.FifoTopic) === "true";
  const name = String(properties.TopicName ?? (isFifo ? `${generatedName}.fifo` : generatedName));
  const { topics, sns } = environment;
  const others = [...topics.values()].map(({ arn }) => arn.split(":").at(-1) ?? "");
  checkUnused(others, name, path);
  const names = ["MaximumMessageSize", ...(isFifo ? ["FifoTopic", "ContentBasedDeduplication"] : [])];
  const creation = sns.call("CreateTopic", { Name: name, Attributes: textsOf(properties, names) });
  const { TopicArn: arn } = await creation.catch((error: Error) => {
    throw new Error(`topic ${path} (${logicalId}) was rejected: ${error.message}`, { cause: error });
  });
  topics.set(path, { logicalId, arn });
  for (const subscription of [properties.Subscription ?? []].flat()) {
    await subscribe({ ...resource, properties: { ...Object(subscription), TopicArn: arn } }, environment);
  }
  return { ref: arn, attributes: { TopicArn: arn, TopicName: name } };
}

async function deploySubscription(
  resource: ResolvedResource,
  environment: LocalEnvironment,
): Promise<Deployed> {
  const arn = await subscribe(resource, environment);
  return { ref: arn ?? resource.logicalId, attributes: { Arn: arn ?? resource.logicalId } };
}

async function subscribe(
  resource: ResolvedResource,
  environment: LocalEnvironment,
): Promise<string | undefined> {
  const { properties } = resource;
  const TopicArn = String(properties.TopicArn);
  const Protocol = String(properties.Protocol);
  const Endpoint = String(properties.Endpoint);
  const obstacle = obstacleOf(Protocol, Endpoint, environment);
  const Attributes = textsOf(properties, [
    "FilterPolicy",
    "FilterPolicyScope",
    "RawMessageDelivery",
    "RedrivePolicy",
  ]);
  const subscribing = obstacle
    ? Promise.reject(new Error(obstacle))
    : environment.sns.call("Subscribe", { TopicArn, Protocol, Endpoint, Attributes });
  return subscribing.then(
    ({ SubscriptionArn }) => SubscriptionArn,
    (error: Error) => void environment.notRun.push(notRunLine(resource, error.message)),
  );
}

function obstacleOf(protocol: string, endpoint: string, environment: LocalEnvironment): string | undefined {
  if (protocol === "sqs") {
    return queueOfArn(environment, endpoint) ? undefined : `${endpoint} isn't a queue of this run`;
  }
  if (protocol === "lambda") {
    return functionOfArn(environment, endpoint) ? undefined : `${endpoint} isn't a function of this run`;
  }
  return `${protocol} subscribers receive nothing, only queues and functions do`;
}

function textsOf(properties: Properties, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names
      .filter((name) => properties[name] !== undefined)
      .map((name) => {
        const value = properties[name];
        return [name, typeof value === "object" ? JSON.stringify(value) : String(value)];
      }),
  );
}

export const TOPIC_TYPES: Readonly<Record<string, DeployResource>> = {
  "AWS::SNS::Subscription": deploySubscription,
  "AWS::SNS::Topic": deployTopic,
};
