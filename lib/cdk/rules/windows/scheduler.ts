// How long EventBridge Scheduler schedules retry.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html
import { type App, objectIn, ownerPath, valueIn } from "../app.ts";
import { type Hop, retryWindow, sumOf } from "./hop.ts";
import { parkedWindow } from "./queues.ts";

export function scheduleHops(app: App): Hop[] {
  return app.ofType("AWS::Scheduler::Schedule").flatMap((schedule) => {
    const path = ownerPath(schedule);
    const target = objectIn(valueIn(app.propertiesOf(schedule), "Target"));
    const { Arn, Input } = target;
    const window = sumOf(
      retryWindow(target, { limit: "scheduler", path, what: `of retries by the schedule ${path}` }),
      parkedWindow(app, valueIn(target, "DeadLetterConfig", "Arn"), path),
    );
    // A universal target, which can be any AWS action, names the resource that it calls in its input.
    const isAction = /:aws-sdk:/.test(JSON.stringify(Arn) ?? "");
    const isAsynchronous = !isAction || !/RequestResponse/.test(JSON.stringify(Input) ?? "");
    return app.targetsIn(isAction ? Input : Arn).map((into): Hop => ({ into, window, isAsynchronous }));
  });
}
