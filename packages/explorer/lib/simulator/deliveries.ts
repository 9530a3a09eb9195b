/** Delivers a message to a subscriber: to a queue, a function, another topic or another bus. */
import type { EventBridgeModel } from "../aws/eventbridge/eventbridge-model.ts";
import type { EventDelivery } from "../aws/eventbridge/service.ts";
import { type SnsNotification, snsEvent } from "../aws/sns/notification.ts";
import { queueMessage } from "../aws/sns/queue-message.ts";
import type { SnsModel } from "../aws/sns/sns-model.ts";
import type { Subscription } from "../aws/sns/topic.ts";
import type { SendRequest } from "../aws/sqs/operations.ts";
import type { SqsModel } from "../aws/sqs/sqs-model.ts";
import type { Courier } from "./courier.ts";
import type { SimulatedFunction } from "./simulated-function.ts";

export interface DeliveryOptions {
  readonly sqs: SqsModel;
  readonly sns: () => SnsModel;
  readonly eventBridge: () => EventBridgeModel;
  readonly courier: Courier;
}

export class Deliveries {
  readonly #options: DeliveryOptions;
  /** By the function's ARN. */
  readonly functions = new Map<string, SimulatedFunction>();
  /** The share of messages that a topic or a bus delivers twice, by its ARN. */
  readonly repeats = new Map<string, number>();

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  ofTopic = (notification: SnsNotification, subscription: Subscription): void => {
    const { topicArn, MessageGroupId } = notification;
    const isOrdered = topicArn.endsWith(".fifo");
    this.#options.courier.send({
      label: `${nameIn(topicArn)} → ${nameIn(subscription.endpoint)}`,
      line: isOrdered ? JSON.stringify([subscription.arn, MessageGroupId]) : undefined,
      repeats: isOrdered ? 0 : (this.repeats.get(topicArn) ?? 0),
      run: () =>
        subscription.protocol === "lambda"
          ? this.#invoke(subscription.endpoint, snsEvent(notification, subscription))
          : this.#toQueue(subscription.endpoint, queueMessage(notification, subscription)),
    });
  };

  ofBus = ({ bus, target, event, input }: EventDelivery): void => {
    const { Arn, SqsParameters } = target;
    this.#options.courier.send({
      label: `${bus.name} → ${nameIn(Arn)}`,
      repeats: this.repeats.get(bus.arn) ?? 0,
      run: async () => {
        const service = Arn.split(":")[2];
        if (service === "lambda") return this.#invoke(Arn, JSON.parse(input));
        if (service === "events") return this.#options.eventBridge().forward(Arn, event);
        if (service === "sns") {
          return this.#options.sns().call("Publish", { TopicArn: Arn, Message: input });
        }
        // EventBridge sends no deduplication id: a FIFO queue needs the one of the content.
        return this.#toQueue(Arn, { MessageBody: input, MessageGroupId: SqsParameters?.MessageGroupId });
      },
    });
  };

  async #toQueue(arn: string, message: SendRequest): Promise<void> {
    const { QueueUrl } = await this.#options.sqs.call("GetQueueUrl", { QueueName: nameIn(arn) });
    await this.#options.sqs.call("SendMessage", { QueueUrl, ...message });
  }

  async #invoke(arn: string, event: unknown): Promise<void> {
    const fn = this.functions.get(arn);
    if (fn === undefined) throw new Error(`no such function: ${nameIn(arn)}`);
    await fn.invokeAsync(event);
  }
}

function nameIn(arn: string): string {
  return arn.slice(Math.max(arn.lastIndexOf(":"), arn.lastIndexOf("/")) + 1);
}
