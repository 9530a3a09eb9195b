/** Shared by all SNS operations: the time, new ids, and the topics by their ARNs. */
import { AwsService, type AwsServiceOptions } from "../aws-service.ts";
import type { SnsNotification } from "./notification.ts";
import { SnsError } from "./sns-error.ts";
import type { Subscription, Topic } from "./topic.ts";

export interface SnsServiceOptions extends AwsServiceOptions {
  /** Delivers a message to one subscriber. */
  readonly deliver: (notification: SnsNotification, subscription: Subscription) => void;
}

export class SnsService extends AwsService<SnsServiceOptions> {
  readonly topics = new Map<string, Topic>();
  /** All accepted messages, in order. */
  readonly published: SnsNotification[] = [];

  constructor(options: SnsServiceOptions) {
    super(options, "sns", 1000n);
  }

  get deliver(): SnsServiceOptions["deliver"] {
    return this.options.deliver;
  }

  topic(arn: string): Topic {
    const topic = this.topics.get(arn);
    if (topic === undefined) throw new SnsError("NotFound", "Topic does not exist");
    return topic;
  }
}
