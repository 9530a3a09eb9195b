/** Runs one message through the engine, and decides what its broker should do with it. */
import { reportDecision } from "../core/decisions.ts";
import { perform } from "../core/engine.ts";
import { hasCode } from "../core/error-code.ts";
import { type ExecutionInProgressError, InvalidOptionError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";
import { agedCall } from "../core/message-age.ts";
import type { CallInput } from "../core/ongoing-call.ts";
import { quietly } from "../core/unawaited.ts";
import { type CallReading, readCall } from "../lambda/adapter.ts";
import { envelopeKeyOf } from "../lambda/batch/envelope-key.ts";
import type { WithIdempotency } from "../lambda/context.ts";
import { type Envelope, readHeldEnvelope } from "../messaging/envelope.ts";
import { type Delivery, headerText } from "./delivery.ts";
import { type ConsumerOptions, engineOptionsOf, type Read } from "./options.ts";

/** Handles one message. Its return value is not stored, because nothing reads it. */
export type MessageHandler<Message, Write = unknown> = (
  message: Message,
  context: WithIdempotency<Write>,
) => unknown;

/** What the consumer should do with a message. */
export type MessageEnd =
  /** It is done, now or earlier: acknowledge it. */
  | { readonly end: "done" }
  /** It will never succeed: move it elsewhere, such as a dead-letter queue. */
  | { readonly end: "final"; readonly error: unknown }
  /** It must be delivered again, not before `afterMs`. */
  | {
      readonly end: "retry";
      readonly afterMs: number;
      readonly error: unknown;
      /** Another attempt is working on it. */
      readonly isInProgress: boolean;
    };

/** Refusals that no retry changes. A store's refusal isn't among them: it will be fixed, and the message isn't at fault. */
const REFUSALS = [
  "IDEMPOTENCY_KEY_MISSING",
  "IDEMPOTENCY_KEY_INVALID",
  "SCOPE_MISSING",
  "PAYLOAD_INVALID",
  "FINGERPRINT_MISMATCH",
] as const;

const DONE: MessageEnd = { end: "done" };
const MAX_PAUSE_SECONDS = 60;

/**
 * Runs `handler` once per operation, scope and key, and returns what to do with each message. It resolves after the record, and
 * everything committed with it, is written. `kafkaEachMessage`, `rabbitMqConsumer` and `natsConsumer` acknowledge messages for
 * their brokers. For another broker, read its messages with `read`, and act on the returned promise, which never rejects.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately.
 */
export function idempotentConsumer<Message, Write = unknown>(
  handler: MessageHandler<Message, Write>,
  options: ConsumerOptions<Message, Write>,
  read: (message: Message) => Delivery,
): (message: Message) => Promise<MessageEnd> {
  if (typeof handler !== "function" || handler.length > 2)
    throw new InvalidOptionError(
      "handler",
      "must be a function that accepts a message and its context",
      handler,
    );
  if (typeof read !== "function") throw new InvalidOptionError("read", "must be a function", read);
  const engineOptions = engineOptionsOf(options);
  const { whenFinalError = "return", retrySeconds = 1, operation } = options;
  const reading = readingOf(options, engineOptions);

  function report(error: unknown, message: Message, name: string): void {
    quietly(() =>
      options.onMessageError
        ? options.onMessageError(error, message)
        : console.error(`onceonly: ${name} failed (operation "${operation}"):`, error),
    );
  }

  async function putAside(error: unknown, message: Message, name: string): Promise<MessageEnd> {
    report(error, message, name);
    if (whenFinalError === "acknowledge") return DONE;
    if (whenFinalError === "return") return { end: "final", error };
    try {
      await whenFinalError(message, error);
      return DONE;
    } catch (failure) {
      report(failure, message, name);
      return { end: "retry", afterMs: retrySeconds * 1000, error: failure, isInProgress: false };
    }
  }

  return async function idempotentMessage(message) {
    let name = "a message";
    let deliveries: number | undefined;
    const again = (error: unknown, seconds = pauseOf(retrySeconds, deliveries)): MessageEnd => {
      report(error, message, name);
      return { end: "retry", afterMs: seconds * 1000, error, isInProgress: false };
    };
    try {
      const delivery = read(message);
      ({ name, deliveries } = delivery);
      const { call, committedAt } = callOf(reading, delivery, message, options);
      const aged = agedCall(engineOptions, committedAt, options);
      const { failure } = await perform(aged.options, { ...call, ...aged.about }, (idempotency) =>
        handler(message, { idempotency }),
      );
      if (!failure) return DONE;
      return failure.isRecorded ? await putAside(failure.error, message, name) : again(failure.error);
    } catch (error) {
      // An error from the handler counts as a failure above, whatever its code: these are errors about this message.
      if (hasCode(error, "EXECUTION_IN_PROGRESS")) {
        const { retryAfterSeconds } = error as ExecutionInProgressError;
        return { end: "retry", afterMs: retryAfterSeconds * 1000, error, isInProgress: true };
      }
      if (hasCode(error, "RESULT_NOT_KEPT")) return DONE;
      if (hasCode(error, "OUTCOME_UNKNOWN")) return again(error, MAX_PAUSE_SECONDS);
      return REFUSALS.some((code) => hasCode(error, code)) ? putAside(error, message, name) : again(error);
    }
  };
}

function pauseOf(retrySeconds: number, deliveries = 1): number {
  const doubled = retrySeconds * 2 ** Math.max(0, deliveries - 1);
  return Math.min(doubled, Math.max(retrySeconds, MAX_PAUSE_SECONDS));
}

function readingOf<Message, Write>(
  { key, scope = "public" }: ConsumerOptions<Message, Write>,
  options: CallReading<Write>["options"],
): CallReading<Write> {
  return {
    options,
    key: () => undefined,
    scope: scope === "public" ? scope : (event: unknown) => scope((event as Read<Message>).message),
    whenKeyMissing: "reject",
    keyMissing: key
      ? "no idempotency key: `key` returned none for this message"
      : 'no idempotency key: the message has no envelope. Send it with `envelopeHeaders`, or set `key` or `whenKeyMissing: "position"`',
  };
}

/**
 * Reads a message's owner, key and payload. Everything is checked before any I/O.
 * @throws as `readCall`, and IdempotencyKeyInvalidError for an unreadable envelope
 */
function callOf<Message, Write>(
  reading: CallReading<Write>,
  { content, envelope, position }: Delivery,
  message: Message,
  { key, whenKeyMissing }: ConsumerOptions<Message, Write>,
): { readonly call: CallInput; readonly committedAt: number | undefined } {
  const held = headerText(envelope);
  const found = readHeldEnvelope(held);
  const isAbsent = held === undefined || held === null;
  const place =
    whenKeyMissing === "position" && position ? hashTuple("onceonly/consumer/1", ...position) : undefined;
  const own = () => (isAbsent ? place : envelopeKeyOf(found));
  const event: Read<Message> = { message, content: textOf(content) };
  const readKey = key ? () => key(message) : own;
  const call = readCall({ ...reading, key: readKey }, event, {});
  if (!key && isAbsent) {
    reportDecision(reading.options.observe, call.identity, { decision: "key-fallback", durationMs: 0 });
  }
  const { committedAt, traceparent } = found.found ? found.envelope : ({} as Partial<Envelope>);
  return { call: { ...call, payload: message, forgetsReturned: true, traceparent }, committedAt };
}

/** Same as the value of a record in a Lambda event, so that a key can move between both. A tombstone isn't an empty value. */
function textOf(content: Delivery["content"]): string | null {
  return content === null || content === undefined
    ? null
    : Buffer.from(content as Uint8Array).toString("base64");
}
