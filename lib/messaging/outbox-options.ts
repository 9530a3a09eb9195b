/** Options of relay and sweeper, with their defaults and rules, and the events that both emit. */

import type { Outbox } from "../core/messages/outbox.ts";
import { aFunction, type Check, checkOptions, methods } from "../core/option-checks.ts";
import { withDefaults } from "../core/options.ts";
import type { ParkingRules } from "./commit-end.ts";
import { type Connections, connect } from "./connections.ts";
import type { SendingRules } from "./destination-queue.ts";
import { DESTINATIONS_CHECK, type Fence, readDestinations } from "./known-destinations.ts";
import { type MessageProducerOptions, PRODUCER_CHECKS, PRODUCER_DEFAULTS } from "./message-producer.ts";
import { byKeyAndBody } from "./sqs-and-sns.ts";

export const OUTBOX_EVENTS = [
  /** The messages of a commit were accepted by their destinations and are marked as sent. */
  "sent",
  /** Messages of a commit weren't accepted, or couldn't be marked: they are sent again. */
  "send-failed",
  /** Messages of a commit aren't tried any more: they are kept until an operator decides about them. */
  "parked",
] as const;

/** Reports the outcome for the messages of one commit. Never contains a key, a body or an address. */
export interface OutboxCommitEvent {
  readonly event: (typeof OUTBOX_EVENTS)[number];
  readonly by: "relay" | "sweeper";
  /** The operation of the commit. */
  readonly operation: string;
  /** Identifies the key without revealing it. */
  readonly keyHash: string;
  readonly messages: number;
  /** Since the commit. */
  readonly lagMs: number;
  /** On a `sent` event: a `SentTwice`, if another sender had already sent the messages. */
  readonly error?: unknown;
}

/** Reports how one try to send a message ended, before the event of its commit. Never contains a key, a body, or an account. */
export interface OutboxSendEvent {
  readonly event: "send";
  readonly by: "relay" | "sweeper";
  /** The operation of the commit. */
  readonly operation: string;
  /** Identifies the commit's key without revealing it. */
  readonly keyHash: string;
  /** `sent`: the destination accepted the message. `send-failed`: it will be tried again. `parked`: it won't. */
  readonly outcome: (typeof OUTBOX_EVENTS)[number];
  /** The destination's kind and name, such as `queue/payments`. Absent for a message that can't be read. */
  readonly to: string | undefined;
  /** The W3C trace context that travels with the message: that of the span active at the commit. */
  readonly traceparent: string | undefined;
  /** The time since the message was queued for its destination, including any wait for other messages. */
  readonly durationMs: number;
  /** When the try ended (epoch ms). */
  readonly endedAt: number;
  /** Why the message wasn't sent: a service's error code, or an error's name. */
  readonly code: string | undefined;
  readonly error?: undefined;
}

/** Reports what a sweep found: once per sweep, even if nothing waits. */
export interface OutboxBacklogEvent {
  readonly event: "backlog";
  readonly by: "sweeper";
  /** Commits whose messages wait to be sent. */
  readonly waiting: number;
  /** The age of the oldest of these commits; 0 if nothing waits. */
  readonly oldestMs: number;
  /** Commits with parked messages and no others left to send. */
  readonly parked: number;
  readonly error?: undefined;
}

export type OutboxEvent = OutboxCommitEvent | OutboxSendEvent | OutboxBacklogEvent;

export interface OutboxOptions extends MessageProducerOptions {
  /**
   * Where messages may be sent: queue URLs, topic ARNs, and names or ARNs of event buses, as messages name them. A
   * message for any other destination is refused (`DestinationRefused`), because a writer of records doesn't have the
   * relay's right to send.
   *
   * Pass one list for all operations, or an object with a list for each operation name: other operations then can't send.
   * The operation is read from the record's key, so a role that may write only its own operation's records can't have
   * anything sent on behalf of another. A refused message doesn't hold up the others.
   *
   * `"any"` sends wherever a record says, as far as the function's role allows it. That suits tests, and tables that only
   * trusted code can write.
   */
  readonly destinations:
    | "any"
    | readonly (string | undefined)[]
    | Readonly<Record<string, readonly (string | undefined)[]>>;
  /** The store of committed messages: a `DynamoDBOutbox` with the same options as the store. */
  readonly outbox: Outbox;
  /**
   * In how many invocations a message is tried before it is parked, 1 to 10000. A parked message is kept, reported, and
   * not tried again until an operator asks for it. Intervals double up to a quarter of an hour: 50 tries last half a day.
   * @default 50
   */
  readonly parkAfterTries?: number;
  /**
   * When a commit is this many seconds old, its unsent messages are parked, tried or not: 60 to 31536000.
   * @default 259200 (3 days)
   */
  readonly parkAfterSeconds?: number;
  /**
   * Called with the outcome of each message and each commit, and the result of each sweep. Its errors are ignored.
   * @default - `console.error` with the error of each `send-failed`, and of each `sent` that came second
   */
  readonly observe?: (event: OutboxEvent) => void;
}

export const OUTBOX_CHECKS: Readonly<Record<keyof OutboxOptions, Check>> = {
  ...PRODUCER_CHECKS,
  destinations: DESTINATIONS_CHECK,
  outbox: methods("readChange", "take", "keep", "markSent", "park", "leaseSweep", "findUnsent", "count"),
  parkAfterTries: [
    "must be a whole number between 1 and 10000",
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 10_000,
  ],
  parkAfterSeconds: [
    "must be a number of seconds between 60 and 31536000",
    (value) => typeof value === "number" && value >= 60 && value <= 31_536_000,
  ],
  observe: aFunction,
};

const DEFAULTS = {
  ...PRODUCER_DEFAULTS,
  parkAfterTries: 50,
  parkAfterSeconds: 259_200,
};

export interface OutboxSettings {
  readonly by: OutboxEvent["by"];
  readonly outbox: Outbox;
  readonly connections: Connections;
  /** Decides which messages an operation may send. */
  readonly fence: Fence | undefined;
  readonly rules: SendingRules;
  readonly parking: ParkingRules;
  readonly observe: ((event: OutboxEvent) => void) | undefined;
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function settingsOf(by: OutboxEvent["by"], options: OutboxOptions): OutboxSettings {
  checkOptions(options, OUTBOX_CHECKS, ["outbox", "destinations"]);
  const { outbox, observe, destinations, ...others } = withDefaults(options, DEFAULTS);
  const { maxTries, clock, random, parkAfterTries, parkAfterSeconds, ...clients } = others;
  const { names, fence } = readDestinations(destinations);
  return {
    by,
    outbox,
    observe,
    fence,
    connections: connect(clients, names, byKeyAndBody),
    rules: { maxTries, clock, random },
    parking: { parkAfterTries, parkAfterSeconds },
  };
}
