/** Options of relay and sweeper, with their defaults and rules, and the events that both tell. */

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
  /** Messages of a commit were not accepted, or could not be marked: they are sent again. */
  "send-failed",
  /** Messages of a commit are not tried any more: they are kept until somebody decides about them. */
  "parked",
] as const;

/** Tells what became of the messages of one commit. Never holds a key, a body or an address. */
export interface OutboxCommitEvent {
  readonly event: (typeof OUTBOX_EVENTS)[number];
  readonly by: "relay" | "sweeper";
  /** The operation of the commit. */
  readonly operation: string;
  /** Names the key without showing it. */
  readonly keyHash: string;
  readonly messages: number;
  /** Since the commit. */
  readonly lagMs: number;
  /** Of a `sent` event: a `SentTwice`, if another sender had sent the messages already. */
  readonly error?: unknown;
}

/** Tells how one try to send a message ended, before the event of its commit. Never holds a key, a body, or an account. */
export interface OutboxSendEvent {
  readonly event: "send";
  readonly by: "relay" | "sweeper";
  /** The operation of the commit. */
  readonly operation: string;
  /** Names the key of the commit without showing it. */
  readonly keyHash: string;
  /** `sent`: its destination has the message. `send-failed`: it is tried again. `parked`: it is not. */
  readonly outcome: (typeof OUTBOX_EVENTS)[number];
  /** The kind of its destination and the name, such as `queue/payments`. Absent for a message that cannot be read. */
  readonly to: string | undefined;
  /** The W3C trace context that travels with the message: of the span that was active at the commit. */
  readonly traceparent: string | undefined;
  /** Since the message was given to the way to its destination, where it may have waited for others. */
  readonly durationMs: number;
  /** When the try ended (epoch ms). */
  readonly endedAt: number;
  /** Why the message was not sent: the code of a service, or the name of an error. */
  readonly code: string | undefined;
  readonly error?: undefined;
}

/** Tells what a sweep found: once for each sweep, also where nothing waits. */
export interface OutboxBacklogEvent {
  readonly event: "backlog";
  readonly by: "sweeper";
  /** Commits whose messages wait to be sent. */
  readonly waiting: number;
  /** Since the commit of the oldest of them; 0 where nothing waits. */
  readonly oldestMs: number;
  /** Commits that have parked messages, and no others left to send. */
  readonly parked: number;
  readonly error?: undefined;
}

export type OutboxEvent = OutboxCommitEvent | OutboxSendEvent | OutboxBacklogEvent;

export interface OutboxOptions extends MessageProducerOptions {
  /**
   * Where messages may be sent: queue URLs, topic ARNs, and names or ARNs of event buses, as messages name them. A message for
   * any other destination is refused (`DestinationRefused`), because a writer of records doesn't have the relay's right to send.
   *
   * Give one list for all operations, or an object with a list for each operation, by its name: the other operations may then
   * send nowhere. The operation is read from the record's key, so a role that may write only its own operation's records can't
   * have anything sent on behalf of another. A refused message doesn't hold up the others.
   *
   * `"any"` sends wherever a record says, as far as the function's role allows it. That suits tests and tables that only
   * trusted code can write.
   */
  readonly destinations:
    | "any"
    | readonly (string | undefined)[]
    | Readonly<Record<string, readonly (string | undefined)[]>>;
  /** Where commits left their messages: a `DynamoDBOutbox` with the options of the store. */
  readonly outbox: Outbox;
  /**
   * In how many invocations a message is tried before it is parked, 1 to 10000. A parked message is kept, and told, and
   * tried no more until somebody says so. Tries come at intervals that double up to a quarter of an hour: 50 take half a day.
   * @default 50
   */
  readonly parkAfterTries?: number;
  /**
   * How old a commit is, in seconds, when its messages that cannot be sent are parked, tried or not: 60 to 31536000.
   * @default 259200 (3 days)
   */
  readonly parkAfterSeconds?: number;
  /**
   * Told what became of each message and of each commit, and what each sweep found. Errors of the observer are ignored.
   * @default - `console.error` with the error of each `send-failed`, and of each `sent` that came second
   */
  readonly observe?: (event: OutboxEvent) => void;
}

export const OUTBOX_CHECKS: Readonly<Record<keyof OutboxOptions, Check>> = {
  ...PRODUCER_CHECKS,
  destinations: DESTINATIONS_CHECK,
  outbox: methods("readChange", "take", "keep", "markSent", "park", "leaseSweep", "findUnsent", "count"),
  parkAfterTries: [
    "must be a whole number from 1 to 10000",
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 10_000,
  ],
  parkAfterSeconds: [
    "must be a number of seconds from 60 to 31536000",
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
  /** Tells which messages an operation may have sent. */
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
