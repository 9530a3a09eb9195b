/** One topic and its subscriptions. */
import type { EventFilter } from "../event-sources/event-filter.ts";
import { DeduplicationWindow } from "../sqs/deduplication-window.ts";

export interface Subscription {
  readonly arn: string;
  /** `sqs` or `lambda`. */
  readonly protocol: string;
  /** The ARN of a queue or a function. */
  readonly endpoint: string;
  /** Whether a queue gets the bare message, with the attributes of the message. */
  readonly isRaw: boolean;
  readonly filter: EventFilter;
  readonly filterScope: "MessageAttributes" | "MessageBody";
}

export class Topic {
  readonly arn: string;
  readonly isFifo: boolean;
  readonly isContentBased: boolean;
  readonly subscriptions = new Map<string, Subscription>();
  readonly window = new DeduplicationWindow();

  constructor(arn: string, attributes: Readonly<Record<string, string>>) {
    this.arn = arn;
    this.isFifo = arn.endsWith(".fifo");
    this.isContentBased = attributes.ContentBasedDeduplication === "true";
  }
}
