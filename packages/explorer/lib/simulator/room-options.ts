/** Options for a simulation's topics and buses, and for their subscribers. */
import type { SimulatedFunction } from "./simulated-function.ts";

/** Give exactly one of them. */
export interface Subscriber {
  /** A queue's URL. */
  readonly queue?: string | undefined;
  readonly fn?: SimulatedFunction | undefined;
}

export interface SimulatedSubscription extends Subscriber {
  /** Whether a queue gets the bare message with its attributes, instead of SNS's JSON envelope. @default false */
  readonly raw?: boolean | undefined;
  /** @default - every message */
  readonly filterPolicy?: object | undefined;
  /** @default "MessageAttributes" */
  readonly filterPolicyScope?: "MessageAttributes" | "MessageBody" | undefined;
}

export interface SimulatedTopic {
  /** @default - whether the name ends in `.fifo` */
  readonly fifo?: boolean | undefined;
  /** @default false */
  readonly contentBasedDeduplication?: boolean | undefined;
  /** In bytes, as the topic's attribute `MaximumMessageSize`: 1024 to 1048576. @default 262144 */
  readonly maximumMessageSize?: number | undefined;
  readonly subscriptions?: readonly SimulatedSubscription[] | undefined;
  /** Standard topics: the share of messages that a subscriber gets twice, from 0 to 0.9. @default 0 */
  readonly repeats?: number | undefined;
}

/** A rule with one target. */
export interface SimulatedRule extends Subscriber {
  /** A topic's ARN. */
  readonly topic?: string | undefined;
  /** Another bus's ARN. */
  readonly bus?: string | undefined;
  /** @default - every event */
  readonly pattern?: object | undefined;
  /** The message group id for a queue. */
  readonly group?: string | undefined;
  /** Such as `$.detail`. @default - the whole event */
  readonly inputPath?: string | undefined;
  readonly inputTransformer?:
    | { readonly paths?: Readonly<Record<string, string>> | undefined; readonly template: string }
    | undefined;
}

export interface SimulatedBus {
  readonly rules?: readonly SimulatedRule[] | undefined;
  /** The share of events that a target gets twice, from 0 to 0.9. @default 0 */
  readonly repeats?: number | undefined;
}
