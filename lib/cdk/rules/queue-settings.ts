// The settings of a queue, with SQS's defaults for those that a template doesn't set.
import { type App, objectIn, type Resource } from "./app.ts";
import { numberIn } from "./windows/hop.ts";

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html */
const SQS_DEFAULTS = { visibilityTimeout: 30, messageRetentionPeriod: 345_600 };

interface QueueSettings {
  /** In seconds, like `kept`. */
  readonly hidden: number;
  readonly kept: number;
  readonly isFifo: boolean;
  /** `undefined` without a dead-letter queue. */
  readonly redrive: { readonly deadLetters: unknown; readonly receives: number } | undefined;
}

/** A queue's settings in its template, or SQS's defaults. `NaN` for a value that is only known at deployment. */
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
