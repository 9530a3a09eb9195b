// How long SNS topics can redeliver a message.
import { type App, objectIn, ownerPath, type Resource, type TemplateProperties, valueIn } from "../app.ts";
import { type Hop, numberIn, type RedeliveryWindow, sumOf } from "./hop.ts";
import { parkedWindow } from "./queues.ts";

const DAY = 86_400;

/**
 * 100,015 tries over 23 days for functions and queues; it isn't configurable.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html
 */
const RETRY_SECONDS = 23 * DAY;

export function subscriptionHops(app: App): Hop[] {
  const own = app
    .ofType("AWS::SNS::Subscription")
    .flatMap((subscription) => hopsOf(app, subscription, app.propertiesOf(subscription)));
  const ofTopics = app.ofType("AWS::SNS::Topic").flatMap((topic) => {
    const { Subscription, ArchivePolicy } = app.propertiesOf(topic);
    const subscriptions = Array.isArray(Subscription) ? (Subscription as TemplateProperties[]) : [];
    return [
      ...subscriptions.flatMap((each) => hopsOf(app, topic, each, topic)),
      ...archiveHops(topic, valueIn(objectIn(ArchivePolicy), "MessageRetentionPeriod")),
    ];
  });
  return [...own, ...ofTopics];
}

function hopsOf(app: App, at: Resource, subscription: TemplateProperties, topic?: Resource): Hop[] {
  const from = topic ?? app.targetIn(valueIn(subscription, "TopicArn"), "AWS::SNS::Topic");
  const path = ownerPath(from ?? at);
  const window = sumOf(
    [
      {
        seconds: RETRY_SECONDS,
        text: `${RETRY_SECONDS} s (23 days) of retries by SNS for ${path}`,
        limit: "sns",
      },
    ],
    parkedWindow(app, valueIn(subscription, "RedrivePolicy", "deadLetterTargetArn"), path),
  );
  return app
    .targetsIn(valueIn(subscription, "Endpoint"))
    .map((into): Hop => ({ from, into, window, isAsynchronous: true }));
}

/** A subscription may request a replay. https://docs.aws.amazon.com/sns/latest/dg/fifo-message-archiving-replay.html */
function archiveHops(topic: Resource, period: unknown): Hop[] {
  const days = numberIn(period);
  if (days === undefined) return [];
  return [{ into: topic, window: archiveWindow(ownerPath(topic), days) }];
}

function archiveWindow(path: string, days: number): RedeliveryWindow {
  if (Number.isNaN(days)) return { unknown: `a number of ${path} is only known at deployment` };
  return [{ seconds: days * DAY, text: `${days * DAY} s in the archive of ${path}`, limit: "archive" }];
}
