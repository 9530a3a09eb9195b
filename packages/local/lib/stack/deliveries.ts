// Where topics and buses deliver: to queues, to functions as asynchronous invocations, and to topics and buses.
import {
  type EventDelivery,
  queueMessage,
  type SnsNotification,
  type Subscription,
  snsEvent,
} from "onceonly-explorer/aws";
import { invokeLater } from "./invoke-later.ts";
import { functionOfArn, type LocalEnvironment, pathOf, queueOfArn } from "./local-environment.ts";
import { targetOf } from "./resources/local-target.ts";

/** A topic's message for one of its subscribers. */
export async function deliverNotification(
  environment: LocalEnvironment,
  notification: SnsNotification,
  subscription: Subscription,
): Promise<void> {
  const { topics, queues, sqs, log } = environment;
  const topic = [...topics.values()].find(({ arn }) => arn === notification.topicArn);
  const from = topic ? pathOf(topics, topic) : notification.topicArn;
  const fn = subscription.protocol === "lambda" && functionOfArn(environment, subscription.endpoint);
  if (fn) return invokeLater(environment, fn, JSON.stringify(snsEvent(notification, subscription)), from);
  const send = async (arn: string | undefined) => {
    const queue = arn === undefined ? undefined : queueOfArn(environment, arn);
    if (!queue) throw new Error(`no such queue: ${arn}`);
    await sqs.model.call("SendMessage", { QueueUrl: queue.url, ...queueMessage(notification, subscription) });
    log(`${from} → ${pathOf(queues, queue)}: sent`);
  };
  await send(subscription.endpoint)
    .catch((error: Error) => {
      log(`${from} → ${subscription.endpoint}: ${String(error)}`);
      if (subscription.deadLetterArn !== undefined) return send(subscription.deadLetterArn);
    })
    .catch((error: Error) => log(`${from} → ${subscription.deadLetterArn}: ${String(error)}; lost`));
}

/** An event for one target of a rule that matches it. */
export async function deliverEvent(
  environment: LocalEnvironment,
  { rule, target, event, input }: EventDelivery,
): Promise<void> {
  if (target.Arn.split(":")[2] === "events") return environment.eventBridge.forward(target.Arn, event);
  const path = environment.rulePaths.get(rule.arn) ?? rule.name;
  const local = targetOf(target as object, { environment, path });
  if ("problem" in local) environment.log(`${path}: ${local.problem}`);
  else await local.deliver(input);
}
