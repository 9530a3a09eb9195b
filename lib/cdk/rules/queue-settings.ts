// What SQS does where a template says nothing.
import { type App, objectIn, type Resource } from "./app.ts";
import { numberIn } from "./windows/hop.ts";

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html */
const SQS_DEFAULTS = { visibilityTimeout: 30, messageRetentionPeriod: 345_600 };

interface QueueSettings {
  /** Seconds, as are those of `kept`. */
  readonly hidden: number;
  readonly kept: number;
  readonly isFifo: boolean;
  /** `undefined` without a dead-letter queue. */
  readonly redrive: { readonly deadLetters: unknown; readonly receives: number } | undefined;
}

/** A queue's settings in its template; SQS decides on missing ones. `NaN` for what is known at deployment only. */
export function settingsOf(app: App, queue: Resource): QueueSettings {
  const { VisibilityTimeout, MessageRetentionPeriod, FifoQueue, RedrivePolicy } = app.propertiesOf(queue);
  const { deadLetterTargetArn, maxReceiveCount } = objectIn(RedrivePolicy);
  return {
    hidden: numberIn(VisibilityTimeout) ?? SQS_DEFAULTS.visibilityTimeout,
    kept: numberIn(MessageRetentionPeriod) ?? SQS_DEFAULTS.messageRetentionPeriod,
    isFifo: `${FifoQueue}` === "true",
    redrive:
      RedrivePolicy === undefined
        ? undefined
        : {
            deadLetters: deadLetterTargetArn,
            receives: maxReceiveCount === undefined ? 10 : (numberIn(maxReceiveCount) ?? Number.NaN),
          },
  };
}
