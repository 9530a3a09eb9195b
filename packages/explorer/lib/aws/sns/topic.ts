/** One topic and its subscriptions. */
import type { EventFilter } from "../event-sources/event-filter.ts";
import { DeduplicationWindow } from "../sqs/deduplication-window.ts";

export interface Subscription {
  readonly arn: string;
  /** As they were given, to distinguish a repeated subscription from a different one. */
  readonly attributes: Readonly<Record<string, string>>;
  /** `sqs` or `lambda`. */
  readonly protocol: string;
  /** The ARN of a queue or a function. */
  readonly endpoint: string;
  /** Whether a queue gets the bare message, with the attributes of the message. */
  readonly isRaw: boolean;
  /** The redrive policy's queue: it gets what the endpoint can't accept. */
  readonly deadLetterArn: string | undefined;
  readonly filter: EventFilter;
  readonly filterScope: "MessageAttributes" | "MessageBody";
}

export class Topic {
  readonly arn: string;
  readonly isFifo: boolean;
  readonly isContentBased: boolean;
  /** For one message, and for all messages of a batch. */
  readonly maxBytes: number;
  readonly subscriptions = new Map<string, Subscription>();
  readonly window = new DeduplicationWindow();

  constructor(arn: string, attributes: Readonly<Record<string, string>>) {
    this.arn = arn;
    this.isFifo = arn.endsWith(".fifo");
    this.isContentBased = attributes.ContentBasedDeduplication === "true";
    this.maxBytes = Number(attributes.MaximumMessageSize ?? 262_144);
  }
}
