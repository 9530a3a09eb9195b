/** Sends messages to queues, topics and event buses, with the envelope and, where FIFO, under derived ids. */

import type { OutgoingMessage, StoredMessage } from "../core/messages/outgoing-message.ts";
import { prepareMessage, prepareMessages } from "../core/messages/prepare-message.ts";
import type { SentMessage } from "../core/messages/send-result.ts";
import { aFunction, type Check, checkOptions } from "../core/option-checks.ts";
import { withDefaults } from "../core/options.ts";
import { type Clients, type Connections, connect } from "./connections.ts";
import { allSent, deliver } from "./deliver.ts";
import type { SendingRules } from "./destination-queue.ts";
import { CHECKS, DEFAULTS, type RetryOptions, type SendOptions, signalOf } from "./options.ts";
import { checkSize } from "./sqs-and-sns.ts";

export interface MessageProducerOptions extends Clients, RetryOptions {}

export const PRODUCER_DEFAULTS = DEFAULTS;

const { client, maxTries, clock, random } = CHECKS;

export const PRODUCER_CHECKS: Readonly<Record<keyof MessageProducerOptions, Check>> = {
  sqs: client,
  sns: client,
  eventBridge: client,
  onWarning: aFunction,
  maxTries,
  clock,
  random,
};

/**
 * Sends to SQS queues and SNS topics, standard and FIFO, and to EventBridge buses. Every message carries the envelope
 * with its idempotency key: as a message attribute, in an event as a field of its detail. Consumers find the key there, so
 * that a message that is sent or delivered twice has its effect once.
 *
 * To FIFO queues and topics messages go under derived ids: sending a message again within 5 minutes sends nothing new.
 * Within a group a message leaves only after the one before it was accepted. Calls that overlap are not ordered among each
 * other. Standard queues and topics and EventBridge keep no order and drop no duplicates.
 *
 * Destinations do not wait for each other. A request carries up to 10 messages, and 1 MiB to SQS, 256 KiB to others.
 * `@aws-sdk/client-sqs`, `-sns` and `-eventbridge` are needed only for the kinds to which something is sent.
 */
export class MessageProducer {
  readonly #connections: Connections;
  readonly #rules: SendingRules;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: MessageProducerOptions = {}) {
    checkOptions(options, PRODUCER_CHECKS, []);
    const { maxTries, clock, random, ...clients } = withDefaults(options, PRODUCER_DEFAULTS);
    this.#connections = connect(clients);
    this.#rules = { maxTries, clock, random };
  }

  /**
   * Resolves once the destination has accepted the message, or, where FIFO, had accepted it before.
   * @param options ends the request that is under way, so that sending ends in time: pass the `execution` of an idempotent handler, or
   * `{ signal }`. A request that was ended may have been sent. Without it each request ends after 10 seconds.
   * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) and PayloadInvalidError (`PAYLOAD_INVALID`) before anything is
   * sent; SendFailedError (`SEND_FAILED`): send the same again.
   */
  async send(message: OutgoingMessage, options?: SendOptions): Promise<SentMessage> {
    const prepared = prepareMessage("the message", message);
    checkSize("the message", prepared);
    const [sent] = await this.#sendAll([prepared], options);
    return sent!;
  }

  /**
   * Sends any number of messages to any number of destinations. Answers in the order given, once all are accepted.
   * Nothing is sent if one of them is not valid.
   * @param options as that of `send`
   * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) and PayloadInvalidError (`PAYLOAD_INVALID`) before anything is
   * sent; SendFailedError (`SEND_FAILED`), with a result for each message. After a message to a FIFO destination that
   * failed, none of its group was sent. Send the same again, or only what `failed` names.
   */
  async sendBatch(
    messages: readonly OutgoingMessage[],
    options?: SendOptions,
  ): Promise<readonly SentMessage[]> {
    const prepared = prepareMessages(messages);
    for (const [index, message] of prepared.entries()) checkSize(`messages[${index}]`, message);
    return this.#sendAll(prepared, options);
  }

  async #sendAll(messages: readonly StoredMessage[], options?: SendOptions): Promise<readonly SentMessage[]> {
    const rules = { ...this.#rules, signal: signalOf(options) };
    return allSent(await deliver(messages, this.#connections, rules));
  }
}
