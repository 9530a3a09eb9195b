// How long EventBridge rules can redeliver an event.
import { type App, objectIn, ownerPath, type Resource, type TemplateProperties, valueIn } from "../app.ts";
import { ageTerm, type Hop, numberIn, type RedeliveryWindow, retryWindow, sumOf } from "./hop.ts";
import { parkedWindow } from "./queues.ts";

const DAY = 86_400;

/** https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-retry-policy.html */
export function ruleHops(app: App): Hop[] {
  return app.ofType("AWS::Events::Rule").flatMap((rule) => {
    const { EventBusName, Targets } = app.propertiesOf(rule);
    const path = ownerPath(rule);
    const targets = Array.isArray(Targets) ? (Targets as TemplateProperties[]) : [];
    return targets.flatMap((target): Hop[] => {
      const window = sumOf(
        retryWindow(target, { limit: "eventbridge", path, what: `of retries by the rule ${path}` }),
        parkedWindow(app, valueIn(target, "DeadLetterConfig", "Arn"), path),
      );
      const from = busIn(app, rule, EventBusName);
      return app
        .targetsIn(valueIn(target, "Arn"))
        .map((into): Hop => ({ from, into, window, isAsynchronous: true }));
    });
  });
}

/** An operator may replay an archive. https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-archive.html */
export function archiveHops(app: App): Hop[] {
  return app.ofType("AWS::Events::Archive").flatMap((archive): Hop[] => {
    const { SourceArn, RetentionDays } = app.propertiesOf(archive);
    const into = busIn(app, archive, SourceArn);
    return into ? [{ into, window: archiveWindow(ownerPath(archive), numberIn(RetentionDays) ?? 0) }] : [];
  });
}

/** Only a warning, because a replay is an operator's decision. */
function archiveWindow(path: string, days: number): RedeliveryWindow {
  if (Number.isNaN(days)) return { unknown: `a number of ${path} is only known at deployment` };
  if (days === 0)
    return { unknown: `the archive ${path} keeps events forever, and a replay delivers them again` };
  return [{ seconds: days * DAY, text: `${days * DAY} s in the archive ${path}`, limit: "archive" }];
}

const LONGEST_RETENTION_DAYS = 365;

/** How old an event may get before a subscriber gives up, unless the subscriber says otherwise. */
const SUBSCRIBER_SECONDS = 300;

/** How many events a subscriber passes to a function at once, unless the subscriber says otherwise. */
const SUBSCRIBER_BATCH = 10;

/** The longest that a subscriber can wait for a function's response, and the default. */
const SUBSCRIBER_WAITS_SECONDS = 30;

/**
 * A custom EventBridge event bus (AWS::EventsV2). Its subscribers retry for 5 minutes by default. The bus retains its events,
 * so a subscriber can restart from any point in that time.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-custom-bus-retry.html
 */
export function subscriberHops(app: App): Hop[] {
  return subscribersIn(app).flatMap(({ subscriber, targets, isAsynchronous }): Hop[] => {
    const { EventBusArn, RetryPolicy, OnFailureConfiguration } = app.propertiesOf(subscriber);
    const path = ownerPath(subscriber);
    const { MaxEventAgeInSeconds = SUBSCRIBER_SECONDS, MaxRetryAttempts } = objectIn(RetryPolicy);
    const what = `of retries by the subscriber ${path}`;
    const age = { value: MaxEventAgeInSeconds, most: DAY, limit: "eventbridge", path, what };
    const window = sumOf(
      numberIn(MaxRetryAttempts) === 0 ? [] : ageTerm(age),
      parkedWindow(app, valueIn(objectIn(OnFailureConfiguration), "Arn"), path),
    );
    const from = app.targetIn(EventBusArn, "AWS::EventsV2::EventBus");
    return targets.map((into): Hop => ({ from, into, window, isAsynchronous }));
  });
}

/** A subscriber of a custom event bus, and how it invokes its target. */
export interface Subscriber {
  readonly subscriber: Resource;
  readonly targets: readonly Resource[];
  /** The most events in one invocation, which then are in an array. */
  readonly events: number;
  readonly isAsynchronous: boolean;
  /** How long EventBridge waits for the function's response; it may be a JSONata expression, and then `NaN`. */
  readonly waitSeconds: number;
}

/** https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-custom-bus-target-lambda.html */
export function subscribersIn(app: App): Subscriber[] {
  return app.ofType("AWS::EventsV2::Subscriber").map((subscriber) => {
    const { InvokeConfiguration, BatchConfiguration } = app.propertiesOf(subscriber);
    const { TargetArn, LambdaParameters } = objectIn(InvokeConfiguration);
    const { InvocationType, InvocationTimeoutSeconds } = objectIn(LambdaParameters);
    return {
      subscriber,
      targets: app.targetsIn(TargetArn),
      events: numberIn(valueIn(objectIn(BatchConfiguration), "MaxBatchSize")) ?? SUBSCRIBER_BATCH,
      isAsynchronous: InvocationType !== "REQUEST_RESPONSE",
      waitSeconds: numberIn(InvocationTimeoutSeconds) ?? SUBSCRIBER_WAITS_SECONDS,
    };
  });
}

/** Only a warning, as for an archive. Without a setting, assumes the longest retention. */
export function customBusHops(app: App): Hop[] {
  return app.ofType("AWS::EventsV2::EventBus").map((into): Hop => {
    const days = numberIn(valueIn(app.propertiesOf(into), "StorageConfiguration", "RetentionPeriodInDays"));
    return { into, window: archiveWindow(ownerPath(into), days ?? LONGEST_RETENTION_DAYS) };
  });
}

/** The root of the app represents the default bus. */
function busIn(app: App, scope: Resource, nameOrArn: unknown): object | undefined {
  const bus = app.targetIn(nameOrArn, "AWS::Events::EventBus");
  if (bus) return bus;
  const isDefault =
    nameOrArn === undefined ||
    nameOrArn === "default" ||
    /event-bus\/default"/.test(JSON.stringify(nameOrArn));
  return isDefault ? app.rootOf(scope) : undefined;
}
