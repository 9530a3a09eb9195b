/** What all operations of SNS share: time, ids, and the topics by their ARNs. */
import type { Clock, Random } from "../../core/clock.ts";
import type { Notification } from "./notification.ts";
import { SnsError } from "./sns-error.ts";
import type { Subscription, Topic } from "./topic.ts";

export interface SnsServiceOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly region: string;
  readonly accountId: string;
  /** Brings a message to one subscriber. */
  readonly deliver: (notification: Notification, subscription: Subscription) => void;
}

const FIRST_SEQUENCE_NUMBER = 10n ** 19n;

export class SnsService {
  readonly options: SnsServiceOptions;
  readonly topics = new Map<string, Topic>();
  /** All that was accepted, in order. */
  readonly published: Notification[] = [];
  #sequence = 0n;

  constructor(options: SnsServiceOptions) {
    this.options = options;
  }

  get deliver(): SnsServiceOptions["deliver"] {
    return this.options.deliver;
  }

  now(): number {
    return this.options.clock.now();
  }

  newId(): string {
    return this.options.random.token();
  }

  /** 20 digits, larger each time. */
  newSequenceNumber(): string {
    this.#sequence += 1000n;
    return String(FIRST_SEQUENCE_NUMBER + this.#sequence);
  }

  arnOf(name: string): string {
    return `arn:aws:sns:${this.options.region}:${this.options.accountId}:${name}`;
  }

  topic(arn: string): Topic {
    const topic = this.topics.get(arn);
    if (topic === undefined) throw new SnsError("NotFound", "Topic does not exist");
    return topic;
  }
}
