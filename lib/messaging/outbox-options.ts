/** What relay and sweeper are made of: options, their defaults and rules, and what they tell. */
import { aFunction, type Check, checkOptions, methods } from "../core/option-checks.ts";
import { withDefaults } from "../core/options.ts";
import type { Outbox } from "../core/outbox.ts";
import { type Connections, connect } from "./connections.ts";
import { DESTINATIONS_CHECK } from "./known-destinations.ts";
import { byKeyAndBody } from "./message-ids.ts";
import { type MessageProducerOptions, PRODUCER_CHECKS, PRODUCER_DEFAULTS } from "./message-producer.ts";
import type { SendingRules } from "./send-in-order.ts";

export const OUTBOX_EVENTS = [
  /** The messages of a commit were accepted by their destinations and are marked as sent. */
  "sent",
  /** Not all messages of a commit were accepted, or they could not be marked: they are sent again. */
  "send-failed",
  /** Messages of a commit are not tried any more: they are kept, and somebody has to say what becomes of them. */
  "parked",
] as const;

/** What became of the messages of one commit. Never a key, a body or an address. */
export interface OutboxCommitEvent {
  readonly event: (typeof OUTBOX_EVENTS)[number];
  readonly by: "relay" | "sweeper";
  /** Of the commit. */
  readonly operation: string;
  /** Names the key without showing it. */
  readonly keyHash: string;
  readonly messages: number;
  /** Since the commit. */
  readonly lagMs: number;
  readonly error?: unknown;
}

/** What a sweep found: told once by each, also where nothing waits. */
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

export type OutboxEvent = OutboxCommitEvent | OutboxBacklogEvent;

export interface OutboxOptions extends MessageProducerOptions {
  /**
   * Where messages may be sent: URLs of queues, ARNs of topics, names or ARNs of event buses, as messages name them. What is
   * for another destination is refused: whoever may write records has not the rights to send.
   * @default - wherever the function's role allows it
   */
  readonly destinations?: readonly (string | undefined)[];
  /** Where commits left their messages: a `DynamoDBOutbox` with the options of the store. */
  readonly outbox: Outbox;
  /**
   * Told what became of each commit's messages, and what each sweep found; what it throws is ignored.
   * @default - `console.error` with the error of each `send-failed`
   */
  readonly observe?: (event: OutboxEvent) => void;
}

export const OUTBOX_CHECKS: Readonly<Record<keyof OutboxOptions, Check>> = {
  ...PRODUCER_CHECKS,
  destinations: DESTINATIONS_CHECK,
  outbox: methods("readChange", "load", "findUnsent", "markSent"),
  observe: aFunction,
};

const DEFAULTS = {
  ...PRODUCER_DEFAULTS,
  observe: ({ error }: OutboxEvent): void => {
    if (error !== undefined) console.error(error);
  },
};

export interface OutboxSettings {
  readonly by: OutboxEvent["by"];
  readonly outbox: Outbox;
  readonly connections: Connections;
  readonly rules: SendingRules;
  readonly observe: (event: OutboxEvent) => void;
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function settingsOf(by: OutboxEvent["by"], options: OutboxOptions): OutboxSettings {
  checkOptions(options, OUTBOX_CHECKS, ["outbox"]);
  const { outbox, observe, maxTries, clock, random, ...clients } = withDefaults(options, DEFAULTS);
  return {
    by,
    outbox,
    observe,
    connections: connect(clients, byKeyAndBody),
    rules: { maxTries, clock, random },
  };
}
