/** The consumers' options beyond the engine's, and their rules. */
import { MESSAGE_DEFAULTS } from "../core/message-age.ts";
import { aFunction, type Check, checkOptions, oneOf, seconds } from "../core/option-checks.ts";
import { ENGINE_CHECKS, type EngineOptions } from "../core/options.ts";
import { type ResolvedOptions, resolveOptions } from "../core/resolved-options.ts";
import type { Verify } from "../core/verify.ts";
import { withDefaults } from "../core/with-defaults.ts";
import { WRAPPER_CHECKS } from "../lambda/options.ts";

export interface ConsumerOptions<Message = unknown, Write = unknown>
  extends Omit<EngineOptions<Write>, "fingerprint" | "whenAbandoned"> {
  /**
   * The stable name of the operation, including the consumer's name, such as `charge-payment`. Two consumers of one message need
   * different names, and then both run. 1 to 64 characters.
   */
  readonly operation: string;
  /**
   * How long a finished record is honoured, in seconds: longer than a message can be redelivered.
   * @default 3024000 (35 days)
   */
  readonly retentionSeconds?: number;
  /**
   * What to do with a message that was committed longer ago than `retentionSeconds`, according to its envelope, when nothing is
   * known about its key: it may have been handled before. `"reject"` refuses it (`IDEMPOTENCY_KEY_INVALID`), and
   * `whenFinalError` applies.
   * @default "reject" for such a message; otherwise as for every operation: "run"
   */
  readonly whenKeyExpired?: "run" | "reject";
  /**
   * Returns the idempotency key of a message from its producer's data. With a `key`, envelopes are ignored. A message without a
   * key is refused.
   * @default - the key in the header `OnceonlyEnvelope`, which `envelopeHeaders` makes
   */
  readonly key?: (message: Message) => string | undefined;
  /**
   * What to do with a message without an envelope, if no `key` is given. `"reject"` refuses it, and `whenFinalError` applies.
   * `"position"` uses its position at the broker as the key: topic, partition and offset, or stream and sequence. A message that
   * is sent twice has two positions, and runs twice.
   * @default "reject"
   */
  readonly whenKeyMissing?: "reject" | "position";
  /**
   * The verified owner of the key, such as a tenant: 1 to 256 characters. A message without one is refused. Leave it out if keys
   * have no owner; an explicit `undefined` is refused.
   * @default "public"
   */
  readonly scope?: ((message: Message) => string | undefined) | "public";
  /**
   * Returns the part of the message that decides whether two messages carry the same request. While you roll out a change, pass
   * a list: a record stores the first one's value, and a payload matches by any.
   * @default - the bytes of the message, without its headers
   */
  readonly fingerprint?: ((message: Message) => unknown) | readonly ((message: Message) => unknown)[];
  /**
   * What to do with a message whose attempt was abandoned: docs/guides/payment-providers.md. `"hold"` keeps the message until an
   * operator says how the attempt ended. Not with PostgresTransactions, which rolls such an attempt back.
   * @default "run"
   */
  readonly whenAbandoned?: "run" | "hold" | Verify<Message>;
  /**
   * Whether to renew the lease while the handler runs. A consumer has no deadline that would end the lease in time.
   * @default - `true`; `false` in the optimistic mode
   */
  readonly renewLease?: boolean;
  /**
   * What to do with a message that will never succeed: its error is final and recorded, it can't be read, or its payload doesn't
   * match its key. A function can move the message elsewhere, such as a dead-letter topic. The message is acknowledged after
   * that, and retried if the function fails. `"return"` leaves the message to the broker: RabbitMQ dead-letters it, NATS gives
   * up, and Kafka stops there. `"acknowledge"` drops the message.
   * @default "return"
   */
  readonly whenFinalError?: "return" | "acknowledge" | ((message: Message, error: unknown) => unknown);
  /**
   * How long a failed message waits, in seconds. Doubles with each delivery that the broker counts, up to a minute. Kafka uses
   * its client's `retry` settings.
   * @default 1
   */
  readonly retrySeconds?: number;
  /**
   * Called with each error of a message. A message that is in progress elsewhere isn't an error. Anything this function throws
   * is ignored.
   * @default - `console.error` with the message's position and the error
   */
  readonly onMessageError?: (error: unknown, message: Message) => void;
}

const CONSUMER_CHECKS: Readonly<Record<keyof ConsumerOptions, Check>> = {
  ...ENGINE_CHECKS,
  key: aFunction,
  whenKeyMissing: oneOf("reject", "position"),
  scope: WRAPPER_CHECKS.scope,
  whenFinalError: [
    'must be "return", "acknowledge" or a function',
    (value) => value === "return" || value === "acknowledge" || typeof value === "function",
  ],
  retrySeconds: seconds(0, 900),
  onMessageError: aFunction,
};

/** The message for the handler, and the broker's data about it. */
export interface Read<Message> {
  readonly message: Message;
  readonly content: string | null;
}

type OfMessage<Message> = (message: Message) => unknown;

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function engineOptionsOf<Message, Write>(
  options: ConsumerOptions<Message, Write>,
): ResolvedOptions<Write> {
  checkOptions(options, CONSUMER_CHECKS, ["operation", "store"]);
  const { key, scope, whenKeyMissing, whenFinalError, retrySeconds, onMessageError, ...rest } = options;
  const { fingerprint, renewLease = rest.mode === "optimistic" ? undefined : true, ...given } = rest;
  const ofMessage = (read: OfMessage<Message>) => (event: Read<Message>) => read(event.message);
  return resolveOptions<Write>({
    ...withDefaults(given, MESSAGE_DEFAULTS),
    renewLease,
    fingerprint:
      fingerprint === undefined
        ? ({ content }: Read<Message>) => content
        : [fingerprint].flat().map((read) => ofMessage(read as OfMessage<Message>)),
  } as EngineOptions<Write>);
}
