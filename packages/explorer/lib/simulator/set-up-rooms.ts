/** Creates the topics and buses of a simulation, with their subscribers. */
import type { SimulatedBus, SimulatedRule, SimulatedTopic, Subscriber } from "./room-options.ts";
import type { World } from "./world.ts";

const ARN = "arn:aws:";
const PLACE = "us-east-1:000000000000";

export type RoomWorld = Pick<World, "sns" | "eventBridge" | "deliveries">;

/** The calls that create a topic or bus; a refused call rejects. */
export interface NewRoom {
  readonly arn: string;
  readonly calls: readonly Promise<unknown>[];
}

export function newTopic({ sns, deliveries }: RoomWorld, name: string, topic: SimulatedTopic): NewRoom {
  const { fifo = name.endsWith(".fifo"), contentBasedDeduplication, maximumMessageSize, repeats = 0 } = topic;
  const Attributes = {
    ...(fifo && { FifoTopic: "true" }),
    ...(contentBasedDeduplication && { ContentBasedDeduplication: "true" }),
    ...(maximumMessageSize && { MaximumMessageSize: String(maximumMessageSize) }),
  } as Record<string, string>;
  const TopicArn = `${ARN}sns:${PLACE}:${name}`;
  deliveries.repeats.set(TopicArn, repeats);
  const calls: Promise<unknown>[] = [sns.call("CreateTopic", { Name: name, Attributes })];
  for (const { raw, filterPolicy, filterPolicyScope, ...subscriber } of topic.subscriptions ?? []) {
    const Endpoint = subscriberArn(deliveries, subscriber);
    const attributes = {
      ...(raw && { RawMessageDelivery: "true" }),
      ...(filterPolicy && { FilterPolicy: JSON.stringify(filterPolicy) }),
      ...(filterPolicyScope && { FilterPolicyScope: filterPolicyScope }),
    } as Record<string, string>;
    const Protocol = subscriber.fn ? "lambda" : "sqs";
    calls.push(sns.call("Subscribe", { TopicArn, Protocol, Endpoint, Attributes: attributes }));
  }
  return { arn: TopicArn, calls };
}

/** The bus `default` exists already. */
export function newBus({ eventBridge, deliveries }: RoomWorld, name: string, bus: SimulatedBus): NewRoom {
  const arn = `${ARN}events:${PLACE}:event-bus/${name}`;
  deliveries.repeats.set(arn, bus.repeats ?? 0);
  const calls: Promise<unknown>[] =
    name === "default" ? [] : [eventBridge.call("CreateEventBus", { Name: name })];
  for (const [index, rule] of (bus.rules ?? []).entries()) {
    const Name = `rule-${index + 1}`;
    const EventPattern = JSON.stringify(rule.pattern ?? {});
    calls.push(eventBridge.call("PutRule", { Name, EventBusName: name, EventPattern }));
    const Targets = [{ Id: "target", ...targetOf(deliveries, rule) }];
    calls.push(eventBridge.call("PutTargets", { Rule: Name, EventBusName: name, Targets }));
  }
  return { arn, calls };
}

function targetOf(deliveries: World["deliveries"], rule: SimulatedRule) {
  const { group, inputPath, inputTransformer, topic, bus, ...subscriber } = rule;
  return {
    Arn: topic ?? bus ?? subscriberArn(deliveries, subscriber),
    ...(inputPath !== undefined && { InputPath: inputPath }),
    ...(inputTransformer && {
      InputTransformer: {
        InputPathsMap: inputTransformer.paths,
        InputTemplate: inputTransformer.template,
      },
    }),
    ...(group !== undefined && { SqsParameters: { MessageGroupId: group } }),
  };
}

function subscriberArn(deliveries: World["deliveries"], { queue, fn }: Subscriber): string {
  if (queue !== undefined) return `${ARN}sqs:${PLACE}:${queue.slice(queue.lastIndexOf("/") + 1)}`;
  const arn = `${ARN}lambda:${PLACE}:function:${fn?.name}`;
  if (fn) deliveries.functions.set(arn, fn);
  return arn;
}
