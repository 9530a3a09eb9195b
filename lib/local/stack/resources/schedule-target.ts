// What a schedule does when it is due: invokes a function asynchronously, or sends a message.
import { invokeAsynchronously } from "../../schedules/invoke-asynchronously.ts";
import { functionOfArn, type LocalEnvironment, pathOf, queueOfArn } from "../local-environment.ts";

export interface TargetProperties {
  readonly Arn?: string;
  readonly Input?: string;
  readonly InputPath?: string;
  readonly InputTransformer?: unknown;
  readonly SqsParameters?: { readonly MessageGroupId?: string };
}

export interface ScheduleTarget {
  /** Never rejects: what goes wrong is logged. */
  deliver(input: string): Promise<void>;
}

interface TargetContext {
  readonly environment: LocalEnvironment;
  /** The schedule's path. */
  readonly path: string;
  readonly signal: AbortSignal;
}

export function targetOf(
  properties: TargetProperties,
  { environment, path, signal }: TargetContext,
): ScheduleTarget | { readonly problem: string } {
  const { clock, log } = environment;
  const arn = String(properties.Arn);
  if ((properties.InputPath ?? properties.InputTransformer) !== undefined) {
    return { problem: `the input of ${arn} is made from the event, which is not run, only a fixed input is` };
  }
  const target = functionOfArn(environment, arn);
  if (target) {
    const label = `${path} → ${pathOf(environment.functions, target)}`;
    const { host } = target;
    return { deliver: (payload) => invokeAsynchronously({ host, payload, label, clock, log, signal }) };
  }
  const queue = queueOfArn(environment, arn);
  if (!queue) return { problem: `its target ${arn} is no function and no queue that runs here` };
  const label = `${path} → ${pathOf(environment.queues, queue)}`;
  return {
    async deliver(MessageBody) {
      const message = { QueueUrl: queue.url, MessageBody, ...properties.SqsParameters };
      await environment.sqs.model.call("SendMessage", message).then(
        () => log(`${label}: sent`),
        (error: unknown) => log(`${label}: ${String(error)}`),
      );
    },
  };
}
