/** NATS JetStream consumers: a message is acknowledged after its record. */
import { ENVELOPE_ATTRIBUTE } from "../contract.ts";
import { systemClock } from "../core/clock.ts";
import { type Check, checkOptions, seconds } from "../core/option-checks.ts";
import type { Delivery } from "./delivery.ts";
import { idempotentConsumer, type MessageEnd, type MessageHandler } from "./idempotent-consumer.ts";
import type { ConsumerOptions } from "./options.ts";
import { withPulse } from "./pulse.ts";

/** The part of a `JsMsg` (`@nats-io/jetstream` or `nats`) that this consumer uses. */
export interface JetStreamMessageLike {
  readonly data: Uint8Array;
  readonly headers?: { get(name: string): string; has(name: string): boolean } | undefined;
  readonly info: {
    readonly stream: string;
    readonly streamSequence: number;
    readonly timestampNanos: number;
    readonly deliveryCount: number;
  };
  ack(): void;
  nak(afterMs?: number): void;
  term(): void;
  working(): void;
}

export interface NatsOptions<Message = JetStreamMessageLike, Write = unknown>
  extends ConsumerOptions<Message, Write> {
  /**
   * How often to report to the server that a message is still being worked on, in seconds: less than half of the consumer's
   * `ack_wait`. Without it the server would deliver the message again while it is in progress.
   * @default 10
   */
  readonly workingSeconds?: number;
}

const CHECKS: Readonly<Record<string, Check>> = { workingSeconds: seconds(0.1, 3600) };

/**
 * With `const ship = natsConsumer(handler, options)` and `consumer.consume({ callback: (message) => void ship(message) })` each
 * message of a JetStream consumer runs once per operation, scope and key, and is acknowledged after the commit. A message that
 * must come again is redelivered after a delay (`nak`), and one that never succeeds is given up (`term`). Meanwhile the server
 * is informed that the message is being worked on. If the connection is lost before the acknowledgement, the message comes again
 * and is a replay. The consumer must use explicit acknowledgement, which is its default.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. The consumer itself never rejects: it calls `onMessageError`.
 */
export function natsConsumer<Message extends JetStreamMessageLike = JetStreamMessageLike, Write = unknown>(
  handler: MessageHandler<Message, Write>,
  options: NatsOptions<Message, Write>,
): (message: Message) => Promise<void> {
  const { workingSeconds = 10, ...given } = Object(options) as typeof options;
  checkOptions({ workingSeconds }, CHECKS, []);
  const consume = idempotentConsumer(handler, given, deliveryOf);
  const { clock = systemClock } = given;
  return async function idempotentDelivery(message) {
    const ended = await withPulse(
      clock,
      workingSeconds * 1000,
      () => message.working(),
      () => consume(message),
    );
    try {
      answer(message, ended);
    } catch {
      // The connection is closed, so the server delivers the message again.
    }
  };
}

function answer(message: JetStreamMessageLike, ended: MessageEnd): void {
  if (ended.end === "done") message.ack();
  else if (ended.end === "final") message.term();
  else message.nak(ended.afterMs);
}

/** A recreated stream restarts its sequence. */
function deliveryOf({ data, headers, info }: JetStreamMessageLike): Delivery {
  const { stream, streamSequence, timestampNanos, deliveryCount } = info;
  return {
    name: `message ${streamSequence} of ${stream}`,
    content: data,
    envelope: headers?.has(ENVELOPE_ATTRIBUTE) ? headers.get(ENVELOPE_ATTRIBUTE) : undefined,
    position: ["nats", stream, `${streamSequence}`, `${timestampNanos}`],
    deliveries: deliveryCount,
  };
}
