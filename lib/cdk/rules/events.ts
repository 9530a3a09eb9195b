// Warns about EventBridge rules, schedules and subscribers whose events are lost silently.
import {
  type App,
  objectIn,
  ownerPath,
  QUEUE,
  type Report,
  type Resource,
  type TemplateProperties,
  valueIn,
} from "./app.ts";
import type { Warn } from "./retries.ts";
import { subscribersIn } from "./windows/event-bridge.ts";
import { numberIn } from "./windows/hop.ts";

/** For each rule and schedule, its targets among these resources. */
function targetsAt(app: App, into: readonly Resource[]) {
  const rules = app.ofType("AWS::Events::Rule").flatMap((at) => {
    const { Targets } = app.propertiesOf(at);
    const targets = Array.isArray(Targets) ? (Targets as TemplateProperties[]) : [];
    return targets.map((target) => ({ at, target }));
  });
  const schedules = app
    .ofType("AWS::Scheduler::Schedule")
    .map((at) => ({ at, target: objectIn(app.propertiesOf(at).Target) }));
  const isAmong = ({ target: { Arn, Input } }: { target: TemplateProperties }) =>
    [Arn, Input].some((part) => app.targetsIn(part).some((each) => into.includes(each)));
  return [...rules, ...schedules].filter(isAmong);
}

export function findDroppedEvents(app: App, into: readonly Resource[], warn: Warn): void {
  for (const { at, target } of targetsAt(app, into)) {
    const retries = numberIn(valueIn(objectIn(target.RetryPolicy), "MaximumRetryAttempts"));
    if (retries !== 0 || target.DeadLetterConfig !== undefined) continue;
    warn(
      "dropped-events",
      `${ownerPath(at)} drops an event after its first failed delivery: its retryAttempts is 0 and it has no dead-letter queue. Add a dead-letter queue, or allow some retries`,
    );
  }
  for (const { subscriber, targets, isAsynchronous } of subscribersIn(app)) {
    const { RetryPolicy, OnFailureConfiguration } = app.propertiesOf(subscriber);
    const tries = numberIn(objectIn(RetryPolicy).MaxRetryAttempts);
    if (!targets.some((each) => into.includes(each)) || OnFailureConfiguration !== undefined) continue;
    // If EventBridge doesn't wait for the function's response, only the call itself can fail.
    if (isAsynchronous && tries !== 0) continue;
    warn(
      "dropped-events",
      `${ownerPath(subscriber)} drops an event when its retries are over (5 retries or 300 s by default), because it has no dead-letter queue. Add an OnFailureConfiguration`,
    );
  }
}

/** https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-troubleshooting.html */
export function findUnusableKey(app: App, queue: Resource, report: Report): void {
  if (queue.cfnResourceType !== QUEUE) return;
  const { KmsMasterKeyId } = app.propertiesOf(queue);
  const key = app.targetIn(KmsMasterKeyId, "AWS::KMS::Key");
  const isManaged = KmsMasterKeyId === "alias/aws/sqs";
  const isClosed = key !== undefined && !isOpenToEvents(app.propertiesOf(key).KeyPolicy);
  if (!isManaged && !isClosed) return;
  for (const { at } of targetsAt(app, [queue])) {
    // A schedule sends with a role, so only rules depend on the key's policy.
    if (at.cfnResourceType !== "AWS::Events::Rule") continue;
    report(
      "warned",
      "undelivered-events",
      queue,
      `${ownerPath(at)} sends to ${ownerPath(queue)}, which is encrypted with ${isManaged ? "the AWS managed key for SQS" : ownerPath(key ?? queue)}, and EventBridge isn't allowed to use that key, so no event arrives. ${isManaged ? "Use a customer managed key, or SQS-managed encryption" : "Allow events.amazonaws.com to use it (kms:Decrypt and kms:GenerateDataKey)"}`,
    );
  }
}

const isOpenToEvents = (policy: unknown) =>
  /events\.amazonaws\.com|"(Principal|AWS)":"\*"/.test(JSON.stringify(policy) ?? "");
