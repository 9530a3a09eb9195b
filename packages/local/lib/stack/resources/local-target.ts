// The targets of a rule or a schedule: a function is invoked asynchronously, a queue or a topic gets a message.
import { invokeLater } from "../invoke-later.ts";
import { functionOfArn, type LocalEnvironment, pathOf, queueOfArn } from "../local-environment.ts";

export interface TargetProperties {
  readonly Arn?: string;
  readonly Input?: string;
  readonly InputPath?: string;
  readonly InputTransformer?: unknown;
  readonly SqsParameters?: { readonly MessageGroupId?: string };
}

export interface LocalTarget {
  /** Never rejects: errors are logged. */
  deliver(input: string): Promise<void>;
}

interface TargetContext {
  readonly environment: LocalEnvironment;
  /** The path of the rule or schedule. */
  readonly path: string;
}

export function targetOf(
  { Arn, SqsParameters }: TargetProperties,
  { environment, path }: TargetContext,
): LocalTarget | { readonly problem: string } {
  const arn = String(Arn);
  const fn = functionOfArn(environment, arn);
  if (fn) return { deliver: (payload) => invokeLater(environment, fn, payload, path) };
  const sending = (target: string, send: (input: string) => Promise<unknown>): LocalTarget => ({
    async deliver(input) {
      const label = `${path} → ${target}`;
      await send(input).then(
        () => environment.log(`${label}: sent`),
        (error: unknown) => environment.log(`${label}: ${String(error)}`),
      );
    },
  });
  const queue = queueOfArn(environment, arn);
  if (queue) {
    return sending(pathOf(environment.queues, queue), (MessageBody) =>
      environment.sqs.model.call("SendMessage", { QueueUrl: queue.url, MessageBody, ...SqsParameters }),
    );
  }
  const topic = [...environment.topics.values()].find((each) => each.arn === arn);
  if (topic) {
    return sending(pathOf(environment.topics, topic), (Message) =>
      environment.sns.call("Publish", { TopicArn: arn, Message }),
    );
  }
  return { problem: `its target ${arn} isn't a function, queue or topic of this run` };
}
