/**
 * One queue: its attributes, its messages and its waiting receivers. The queue does nothing by itself, and
 * gets the time with each call.
 */

import type { Random } from "onceonly/kit";
import { DeduplicationWindow } from "./deduplication-window.ts";
import { Chance, type Disorder } from "./disorder.ts";
import { FifoStorage } from "./fifo-storage.ts";
import { InFlight } from "./in-flight.ts";
import { isDelayed, isInFlight, isVisible, type QueuedMessage } from "./message.ts";
import type { QueueAttributes } from "./queue-attributes.ts";
import type { QueueStorage } from "./queue-storage.ts";
import { ReceiveAttempts } from "./receive-attempts.ts";
import { parseRedrivePolicy, type RedrivePolicy } from "./redrive-policy.ts";
import { StandardStorage } from "./standard-storage.ts";
import { Watchers } from "./watchers.ts";

export interface QueueIdentity {
  readonly name: string;
  readonly arn: string;
  readonly url: string;
  readonly isFifo: boolean;
}

export interface QueueConduct {
  /** A standard queue's disorder; a FIFO queue has none. */
  readonly disorder: Disorder;
  readonly random: Random;
  /** How many messages a FIFO queue scans for a deliverable message. */
  readonly maxScanned: number;
}

export interface MessageCounts {
  readonly visible: number;
  readonly delayed: number;
  readonly inFlight: number;
}

export class Queue {
  readonly name: string;
  readonly arn: string;
  readonly url: string;
  readonly isFifo: boolean;
  readonly createdAt: number;
  readonly window = new DeduplicationWindow();
  readonly attempts = new ReceiveAttempts();
  readonly chance: Chance;
  lastModifiedAt: number;
  purgedAt?: number;

  readonly #storage: QueueStorage;
  readonly #inFlight = new InFlight();
  readonly #watchers = new Watchers();
  #attributes: QueueAttributes;
  #redrivePolicy: RedrivePolicy | undefined;
  /** No message was sent before this time. */
  #oldestSentAt = Number.POSITIVE_INFINITY;

  constructor(identity: QueueIdentity, attributes: QueueAttributes, nature: QueueConduct, now: number) {
    this.name = identity.name;
    this.arn = identity.arn;
    this.url = identity.url;
    this.isFifo = identity.isFifo;
    this.createdAt = now;
    this.lastModifiedAt = now;
    this.#storage = this.isFifo ? new FifoStorage(nature.maxScanned) : new StandardStorage();
    this.chance = new Chance(this.isFifo ? {} : nature.disorder, nature.random);
    this.#attributes = attributes;
    this.#redrivePolicy = redrivePolicyIn(attributes);
  }

  get attributes(): QueueAttributes {
    return this.#attributes;
  }

  get redrivePolicy(): RedrivePolicy | undefined {
    return this.#redrivePolicy;
  }

  /** An attribute that is a number; most are seconds. */
  number(name: string): number {
    return Number(this.#attributes[name]);
  }

  setAttributes(attributes: QueueAttributes, now: number): void {
    const isOtherDelay = attributes.DelaySeconds !== this.#attributes.DelaySeconds;
    this.#attributes = attributes;
    this.#redrivePolicy = redrivePolicyIn(attributes);
    this.lastModifiedAt = now;
    // A FIFO queue's delay also applies to messages that are already there:
    // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-delay-queues.html
    if (this.isFifo && isOtherDelay) this.#delayAgain();
    this.#watchers.notify();
  }

  add(message: QueuedMessage): void {
    this.#oldestSentAt = Math.min(this.#oldestSentAt, message.sentAt);
    this.#storage.add(message);
    this.#watchers.notify();
  }

  remove(message: QueuedMessage): void {
    this.#storage.remove(message);
    this.#inFlight.forget(message);
    // In a FIFO queue the next message of the group may be deliverable now.
    this.#watchers.notify();
  }

  clear(): void {
    this.#storage.clear();
    this.#inFlight.clear();
    this.window.clear();
  }

  find(messageId: string, now: number): QueuedMessage | undefined {
    this.#dropExpired(now);
    return this.#storage.find(messageId);
  }

  deliverable(now: number): Iterable<QueuedMessage> {
    this.#dropExpired(now);
    return this.chance.shuffled(this.#storage.deliverable(now));
  }

  /** Counts a receive of each message, and hides the messages for this time. */
  deliver(messages: readonly QueuedMessage[], visibilitySeconds: number, now: number): void {
    for (const message of messages) {
      message.receiveCount++;
      message.receivesHere++;
      message.firstReceivedAt ??= now;
      message.lastReceivedAt = now;
      message.visibleAt = now + visibilitySeconds * 1000;
      if (this.chance.repeats()) this.#leaveVisible(message, now);
      this.#inFlight.note(message);
    }
    this.#storage.noteDelivered(messages);
  }

  hideUntil(message: QueuedMessage, visibleAt: number): void {
    message.visibleAt = visibleAt;
    this.#inFlight.note(message);
    this.#watchers.notify();
  }

  inFlightCount(now: number): number {
    return this.#inFlight.count(now);
  }

  counts(now: number): MessageCounts {
    const counts = { visible: 0, delayed: 0, inFlight: 0 };
    for (const message of this.messages(now)) {
      if (isDelayed(message, now)) counts.delayed++;
      else if (isInFlight(message, now)) counts.inFlight++;
      else counts.visible++;
    }
    return counts;
  }

  /** All messages, deliverable or not. */
  messages(now: number): Iterable<QueuedMessage> {
    this.#dropExpired(now);
    return this.#storage.all();
  }

  size(now: number): number {
    this.#dropExpired(now);
    return this.#storage.size;
  }

  /** The time at which the next delayed or in-flight message becomes visible. */
  nextVisibleAt(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const message of this.#storage.all()) {
      if (!isVisible(message, now)) next = Math.min(next, message.visibleAt);
    }
    return next;
  }

  /** Calls `listener` whenever another message may be deliverable. Call the returned function to stop. */
  watch(listener: () => void): () => void {
    return this.#watchers.add(listener);
  }

  #leaveVisible(message: QueuedMessage, now: number): void {
    message.visibleAt = now;
    this.#watchers.notify();
  }

  #delayAgain(): void {
    for (const message of this.#storage.all()) {
      if (message.receivesHere === 0) message.visibleAt = message.sentAt + this.number("DelaySeconds") * 1000;
    }
  }

  /** Retention counts from the sending, also for messages in flight. */
  #dropExpired(now: number): void {
    const retentionMs = this.number("MessageRetentionPeriod") * 1000;
    if (now - this.#oldestSentAt < retentionMs) return;
    this.#oldestSentAt = Number.POSITIVE_INFINITY;
    for (const message of [...this.#storage.all()]) {
      if (now - message.sentAt >= retentionMs) this.remove(message);
      else this.#oldestSentAt = Math.min(this.#oldestSentAt, message.sentAt);
    }
  }
}

function redrivePolicyIn(attributes: QueueAttributes): RedrivePolicy | undefined {
  return attributes.RedrivePolicy === undefined ? undefined : parseRedrivePolicy(attributes.RedrivePolicy);
}
