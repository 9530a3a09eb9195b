/** SNS in the memory of one process, on the caller's clock: topics, subscriptions and their filters. */
import { isDeepStrictEqual } from "node:util";
import { type EventFilter, patternFilter } from "../event-sources/event-filter.ts";
import { SNS_RULES } from "../event-sources/pattern-rules.ts";
import type { SnsNotification } from "./notification.ts";
import type { SnsOperationName, SnsOperations } from "./operations.ts";
import { publish, publishBatch } from "./publish.ts";
import { SnsService, type SnsServiceOptions } from "./service.ts";
import { invalidParameter, SnsError } from "./sns-error.ts";
import { Topic } from "./topic.ts";

export interface SnsModelOptions extends Pick<SnsServiceOptions, "clock" | "random" | "deliver"> {
  /** @default "us-east-1" */
  readonly region?: string | undefined;
  /** @default "000000000000" */
  readonly accountId?: string | undefined;
}

type Handlers = {
  readonly [Name in SnsOperationName]: (
    service: SnsService,
    input: SnsOperations[Name]["input"],
  ) => SnsOperations[Name]["output"];
};

const TOPIC_NAME = /^[A-Za-z0-9_-]{1,256}(\.fifo)?$/;

const HANDLERS: Handlers = {
  CreateTopic(service, { Name, Attributes = {} }) {
    const isFifo = Attributes.FifoTopic === "true";
    if (!TOPIC_NAME.test(Name)) throw invalidParameter("Topic Name");
    if (isFifo !== Name.endsWith(".fifo")) {
      throw invalidParameter("Fifo Topic names must end with .fifo, and others must not");
    }
    const bytes = Number(Attributes.MaximumMessageSize ?? 1024);
    if (!Number.isInteger(bytes) || bytes < 1024 || bytes > 1_048_576)
      throw invalidParameter("MaximumMessageSize");
    const TopicArn = service.arnOf(Name);
    if (!service.topics.has(TopicArn)) service.topics.set(TopicArn, new Topic(TopicArn, Attributes));
    return { TopicArn };
  },
  DeleteTopic(service, { TopicArn }) {
    service.topics.delete(TopicArn);
    return {};
  },
  GetTopicAttributes(service, { TopicArn }) {
    const { isFifo, isContentBased, maxBytes } = service.topic(TopicArn);
    const fifo = { FifoTopic: "true", ContentBasedDeduplication: String(isContentBased) };
    return { Attributes: { TopicArn, MaximumMessageSize: String(maxBytes), ...(isFifo && fifo) } };
  },
  Publish: (service, { TopicArn, ...message }) => publish(service, service.topic(TopicArn), message),
  PublishBatch: (service, { TopicArn, PublishBatchRequestEntries }) =>
    publishBatch(service, service.topic(TopicArn), PublishBatchRequestEntries),
  Subscribe(service, { TopicArn, Protocol, Endpoint, Attributes = {} }) {
    const topic = service.topic(TopicArn);
    if (Protocol !== "sqs" && Protocol !== "lambda") {
      throw invalidParameter("the model only delivers to sqs and lambda");
    }
    if (Protocol === "sqs" && Endpoint.endsWith(".fifo") && !topic.isFifo) {
      throw invalidParameter(
        "Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics",
      );
    }
    const former = [...topic.subscriptions.values()].find(
      ({ protocol, endpoint }) => protocol === Protocol && endpoint === Endpoint,
    );
    if (former) {
      if (isDeepStrictEqual(former.attributes, Attributes)) return { SubscriptionArn: former.arn };
      throw invalidParameter("Attributes Reason: Subscription already exists with different attributes");
    }
    const SubscriptionArn = `${TopicArn}:${service.newId()}`;
    topic.subscriptions.set(SubscriptionArn, {
      arn: SubscriptionArn,
      attributes: Attributes,
      protocol: Protocol,
      endpoint: Endpoint,
      isRaw: Attributes.RawMessageDelivery === "true",
      deadLetterArn: Attributes.RedrivePolicy && JSON.parse(Attributes.RedrivePolicy).deadLetterTargetArn,
      filter: policyFilter(Attributes.FilterPolicy),
      filterScope: Attributes.FilterPolicyScope === "MessageBody" ? "MessageBody" : "MessageAttributes",
    });
    return { SubscriptionArn };
  },
  Unsubscribe(service, { SubscriptionArn }) {
    for (const { subscriptions } of service.topics.values()) subscriptions.delete(SubscriptionArn);
    return {};
  },
};

function policyFilter(policy: string | undefined): EventFilter {
  if (policy === undefined) return () => true;
  try {
    return patternFilter(policy, SNS_RULES);
  } catch (error) {
    throw invalidParameter(`FilterPolicy: ${(error as Error).message}`);
  }
}

/** Each call is one step. Each message goes to `deliver` once for each subscription whose filter matches. */
export class SnsModel {
  readonly #service: SnsService;

  constructor({ region = "us-east-1", accountId = "000000000000", ...options }: SnsModelOptions) {
    this.#service = new SnsService({ ...options, region, accountId });
  }

  /** All messages accepted so far, in order, whether or not a subscriber got them. */
  get published(): readonly SnsNotification[] {
    return this.#service.published;
  }

  /**
   * Runs an operation by the name of its SDK command, with the command's input and output.
   * @throws SnsError with the name of AWS's error
   */
  async call<Name extends SnsOperationName>(
    name: Name,
    input: SnsOperations[Name]["input"],
  ): Promise<SnsOperations[Name]["output"]> {
    if (!Object.hasOwn(HANDLERS, name)) {
      throw new SnsError("UnknownOperationException", `the model doesn't support the operation ${name}`);
    }
    return HANDLERS[name](this.#service, input);
  }
}
