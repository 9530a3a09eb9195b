/** Keeps its own account of what happened to a FIFO queue, from outside, and complains where that cannot be. */

import type { FakeClock } from "../../../../../../lib/testing/fake-clock.ts";
import type { ReceivedMessage } from "../../../../lib/aws/sqs/operations.ts";

const WINDOW_MS = 300_000;

interface InFlight {
  readonly message: ReceivedMessage;
  /** Which receive handed it out. */
  readonly receive: number;
  until: number;
}

export class Witness {
  readonly complaints: string[] = [];
  /** By group, the bodies in the order of their sending, and of their first delivery. */
  readonly sent = new Map<string, string[]>();
  readonly firstDelivered = new Map<string, string[]>();
  readonly deleted = new Set<string>();
  readonly #clock: FakeClock;
  readonly #accepted = new Map<string, { readonly at: number; readonly messageId: string }>();
  readonly #inFlight = new Map<string, InFlight>();
  #receives = 0;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  noteSent(group: string, deduplicationId: string, body: string, messageId: string): void {
    const now = this.#clock.now();
    const before = this.#accepted.get(deduplicationId);
    const isDuplicate = before !== undefined && now - before.at < WINDOW_MS;
    if (isDuplicate !== (before?.messageId === messageId)) {
      this.complaints.push(`the window was wrong ${now - (before?.at ?? now)} ms after the first send`);
    }
    if (isDuplicate) return;
    this.#accepted.set(deduplicationId, { at: now, messageId });
    append(this.sent, group, body);
  }

  noteReceived(messages: readonly ReceivedMessage[], visibilitySeconds: number): void {
    const now = this.#clock.now();
    const before = [...this.#inFlight.values()].filter(({ until }) => until > now);
    this.#receives++;
    for (const message of messages) {
      const earlier = before.find((each) => isBeforeInGroup(each.message, message));
      if (earlier !== undefined) {
        this.complaints.push(`${message.Body} was handed out while ${earlier.message.Body} was in flight`);
      }
      if (this.deleted.has(message.Body)) this.complaints.push(`${message.Body} came after its deletion`);
      const first = this.firstDelivered.get(groupOf(message));
      if (!first?.includes(message.Body)) append(this.firstDelivered, groupOf(message), message.Body);
      this.#inFlight.set(message.Body, {
        message,
        receive: this.#receives,
        until: now + visibilitySeconds * 1000,
      });
    }
  }

  /** Whether this handle must serve now. */
  isInForce(message: ReceivedMessage): boolean {
    const inFlight = this.#inFlight.get(message.Body);
    return inFlight?.message.ReceiptHandle === message.ReceiptHandle && inFlight.until > this.#clock.now();
  }

  noteDeleted(message: ReceivedMessage, wasAccepted: boolean): void {
    if (!this.isInForce(message)) return;
    if (!wasAccepted) this.complaints.push(`${message.Body} could not be deleted`);
    this.#inFlight.delete(message.Body);
    this.deleted.add(message.Body);
  }

  noteChanged(message: ReceivedMessage, seconds: number, wasAccepted: boolean): void {
    if (this.isInForce(message) !== wasAccepted) {
      this.complaints.push(`a visibility change of ${message.Body} was accepted: ${wasAccepted}`);
    }
    const inFlight = this.#inFlight.get(message.Body);
    if (wasAccepted && inFlight) inFlight.until = this.#clock.now() + seconds * 1000;
  }

  /** The groups of which more than one receive is in flight. */
  groupsWithSeveralReceivers(): string[] {
    const receives = new Map<string, Set<number>>();
    for (const { message, receive, until } of this.#inFlight.values()) {
      if (until <= this.#clock.now()) continue;
      const ofGroup = receives.get(groupOf(message)) ?? new Set();
      receives.set(groupOf(message), ofGroup.add(receive));
    }
    return [...receives].filter(([, numbers]) => numbers.size > 1).map(([group]) => group);
  }
}

function isBeforeInGroup(first: ReceivedMessage, second: ReceivedMessage): boolean {
  const numberOf = ({ Attributes }: ReceivedMessage) => Attributes?.SequenceNumber ?? "";
  return groupOf(first) === groupOf(second) && numberOf(first) <= numberOf(second);
}

function groupOf({ Attributes }: ReceivedMessage): string {
  return Attributes?.MessageGroupId ?? "";
}

function append(lists: Map<string, string[]>, key: string, value: string): void {
  lists.set(key, [...(lists.get(key) ?? []), value]);
}
