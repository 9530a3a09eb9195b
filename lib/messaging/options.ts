/** Options of producers, with their defaults and rules. */
import { type Clock, type Random, systemClock, systemRandom } from "../core/clock.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { parseAddress } from "../core/messages/address.ts";
import { type Check, methods } from "../core/option-checks.ts";
import type { AwsClientLike } from "./clients.ts";

export interface RetryOptions {
  /**
   * How often a message is tried if its destination refuses it for a temporary reason: 1 to 20.
   * @default 5
   */
  readonly maxTries?: number;
  /** @default - the system's clock */
  readonly clock?: Clock;
  /** @default - the system's randomness */
  readonly random?: Random;
}

export interface FifoProducerOptions extends RetryOptions {
  /** URL of a FIFO queue. `undefined`, such as from an unset environment variable, is refused. */
  readonly queueUrl: string | undefined;
  /**
   * An `SQSClient` to share with the rest of the handler; its timeouts and retries then apply.
   * @default - a client that gives up connecting after 1 second and a request after 3 seconds
   */
  readonly client?: AwsClientLike;
}

export const DEFAULTS = { maxTries: 5, clock: systemClock, random: systemRandom } as const;

export const CHECKS: Readonly<Record<keyof FifoProducerOptions, Check>> = {
  queueUrl: [
    "must be the URL of a FIFO queue, which ends in .fifo",
    (value) => parseAddress("queue", value)?.isFifo === true,
  ],
  client: methods("send"),
  maxTries: [
    "must be a whole number between 1 and 20",
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 20,
  ],
  clock: methods("now", "sleep"),
  random: methods("token", "fraction"),
};

/** Anything with a signal: an `execution`, or `{ signal }` from an `AbortController`. */
export interface SendOptions {
  readonly signal: AbortSignal;
}

/** A Lambda context, for example, has no signal and would end nothing. @throws InvalidOptionError (`INVALID_OPTION`) */
export function signalOf(options: SendOptions | undefined): AbortSignal | undefined {
  if (options === undefined) return undefined;
  const { signal } = Object(options) as Partial<SendOptions>;
  // Test environments such as jsdom have their own class for it.
  if (typeof Object(signal).aborted === "boolean") return signal;
  const rule = "must be an AbortSignal: pass the execution of an idempotent handler, or { signal }";
  throw new InvalidOptionError("signal", rule, signal);
}
