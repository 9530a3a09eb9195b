/** The options of consumers beyond the engine's, and their rules. */
import { MESSAGE_DEFAULTS } from "../core/message-age.ts";
import { aFunction, type Check, checkOptions, oneOf, seconds } from "../core/option-checks.ts";
import { ENGINE_CHECKS, type EngineOptions, withDefaults } from "../core/options.ts";
import { type ResolvedOptions, resolveOptions } from "../core/resolved-options.ts";
import type { Verify } from "../core/verify.ts";
import { FACE_CHECKS } from "../lambda/options.ts";

export interface ConsumerOptions<Message = unknown, Write = unknown>
  extends Omit<EngineOptions<Write>, "fingerprint" | "whenAbandoned"> {
  /**
   * The stable name of what is done, with the consumer's name in it, such as `charge-payment`. Two consumers of one
   * message need two names, and then both run. 1 to 64 characters.
   */
  readonly operation: string;
  /**
   * How long a finished record is honoured, in seconds: longer than a message can come again.
   * @default 3024000 (35 days)
   */
  readonly retentionSeconds?: number;
  /**
   * What to do with a message that was committed longer ago than `retentionSeconds`, as its envelope says, if nothing is known about
   * its key: it may have been handled before. `"reject"` refuses it (`IDEMPOTENCY_KEY_INVALID`); `whenFinalError` says what then.
   * @default "reject" for such a message; otherwise as for every operation: "run"
   */
  readonly whenKeyExpired?: "run" | "reject";
  /**
   * The idempotency key of a message, from what its producer wrote. With a `key` no envelope counts. A message for which it yields
   * nothing is refused.
   * @default - the key in the header `OnceonlyEnvelope`, which `envelopeHeaders` makes
   */
  readonly key?: (message: Message) => string | undefined;
  /**
   * What becomes of a message without an envelope, where no `key` is given. `"reject"` refuses it: `whenFinalError` says what
   * then. `"position"` takes its place at the broker for a key: topic, partition and offset, or stream and sequence. A message that
   * is sent twice has two places, and runs twice.
   * @default "reject"
   */
  readonly whenKeyMissing?: "reject" | "position";
  /**
   * The verified owner of the key, such as a tenant: 1 to 256 characters. A message without one is refused. Leave it out where
   * nobody owns the key; an `undefined` that is given is refused.
   * @default "public"
   */
  readonly scope?: ((message: Message) => string | undefined) | "public";
  /**
   * Reads the part of the message that tells two payloads apart. While a change rolls out, give a list: a record stores the first
   * one's reading, and a payload matches by any.
   * @default - the bytes of the message, without its headers
   */
  readonly fingerprint?: ((message: Message) => unknown) | readonly ((message: Message) => unknown)[];
  /**
   * What becomes of a message whose attempt was abandoned: docs/use/unknown-outcomes.md. `"hold"` keeps the message until somebody
   * says how the attempt ended. Not with PostgresTransactions, which rolls such an attempt back.
   * @default "run"
   */
  readonly whenAbandoned?: "run" | "hold" | Verify<Message>;
  /**
   * Whether the lease is renewed while the handler runs. A consumer has no deadline that would end the lease in time.
   * @default - `true`; `false` in the optimistic mode
   */
  readonly renewLease?: boolean;
  /**
   * What becomes of a message that will never succeed. Its error is final and recorded, it cannot be read, or it has another payload
   * than its key. A function puts the message aside, such as into a dead-letter topic. The message is
   * acknowledged after that, and tried again where the function fails. `"return"` leaves the message to the broker: RabbitMQ
   * dead-letters it, NATS gives up, and Kafka does not go on. `"acknowledge"` drops the message.
   * @default "return"
   */
  readonly whenFinalError?: "return" | "acknowledge" | ((message: Message, error: unknown) => unknown);
  /**
   * How long a message waits that has failed, in seconds. Doubles with each delivery that the broker counts, up to a minute.
   * Kafka goes by the `retry` of its client.
   * @default 1
   */
  readonly retrySeconds?: number;
  /**
   * This function is told of each error of a message. A message that is in progress elsewhere is no error. What the function throws
   * is ignored.
   * @default - `console.error` with the place of the message and the error
   */
  readonly onMessageError?: (error: unknown, message: Message) => void;
}

const CONSUMER_CHECKS: Readonly<Record<keyof ConsumerOptions, Check>> = {
  ...ENGINE_CHECKS,
  key: aFunction,
  whenKeyMissing: oneOf("reject", "position"),
  scope: FACE_CHECKS.scope,
  whenFinalError: [
    'must be "return", "acknowledge" or a function',
    (value) => value === "return" || value === "acknowledge" || typeof value === "function",
  ],
  retrySeconds: seconds(0, 900),
  onMessageError: aFunction,
};

/** What a handler is given, and what the broker says of it. */
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
