// Whether an alarm on the age of a queue's messages can fire before the queue deletes them.
import { Annotations, Token } from "aws-cdk-lib";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { IConstruct } from "constructs";
import { ownerPath, QUEUE } from "../rules/app.ts";
import { settingsOf } from "../rules/queue-settings.ts";
import { ResolvedApp } from "./resolved-app.ts";
import { walkOnce } from "./resources.ts";

/** Only a warning, because the threshold may be the default. */
export function warnOfSilentAge(alarm: IConstruct, queue: IQueue, threshold: number, what: string): void {
  if (Token.isUnresolved(threshold)) return;
  walkOnce(alarm);
  alarm.node.addValidation({
    validate: () => {
      const app = ResolvedApp.of(queue);
      const resource = app.targetIn(app.resolve(queue.queueArn, queue), QUEUE);
      const kept = resource ? settingsOf(app, resource).kept : Number.NaN;
      if (resource && threshold >= kept) {
        Annotations.of(alarm).addWarningV2(
          "onceonly:silent-alarm",
          `${what} is ${threshold} s, but ${ownerPath(resource)} deletes its messages after ${kept} s, so the alarm would never fire: lower the threshold, or keep the messages longer`,
        );
      }
      return [];
    },
  });
}
