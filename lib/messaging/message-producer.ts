/** Sends messages to queues, topics and event buses, with the envelope and, for FIFO, under derived ids. */

import type { OutgoingMessage, StoredMessage } from "../core/messages/outgoing-message.ts";
import { prepareMessage, prepareMessages } from "../core/messages/prepare-message.ts";
import type { SentMessage } from "../core/messages/send-result.ts";
import { aFunction, type Check, checkOptions } from "../core/option-checks.ts";
import { withDefaults } from "../core/options.ts";
import { type Clients, type Connections, connect } from "./connections.ts";
import { allSent, deliver } from "./deliver.ts";
import type { SendingRules } from "./destination-queue.ts";
import { CHECKS, DEFAULTS, type RetryOptions, type SendOptions, signalOf } from "./options.ts";
import { Scheduler } from "./scheduler.ts";
import { checkSize } from "./sqs-and-sns.ts";

export interface MessageProducerOptions extends Clients, RetryOptions {}

export const PRODUCER_DEFAULTS = DEFAULTS;

const { client, maxTries, clock, random } = CHECKS;

export const PRODUCER_CHECKS: Readonly<Record<keyof MessageProducerOptions, Check>> = {
  sqs: client,
  sns: client,
  eventBridge: client,
  scheduler: ["must be an object with `groupArn` and `roleArn`", (value) => Object(value) === value],
  onWarning: aFunction,
  maxTries,
  clock,
  random,
};

/**
 * Sends to SQS queues and SNS topics, standard and FIFO, and to EventBridge buses. Every message carries an envelope with
 * its idempotency key: a message attribute, or in an event a field of its detail. Consumers read the key there, so a
 * message that is sent or delivered twice has its effect once.
 *
 * FIFO queues and topics get derived ids, so sending a message again within 5 minutes sends nothing new. Within a group,
 * a message leaves only after the previous one was accepted. Overlapping calls aren't ordered among each other. Standard
 * queues and topics and EventBridge keep no order and drop no duplicates.
 *
 * Destinations don't wait for each other. A request carries up to 10 messages, and 1 MiB to SQS, 256 KiB to others.
 * Install `@aws-sdk/client-sqs`, `-sns` and `-eventbridge` only for the kinds that you send to.
 */
export class MessageProducer {
  readonly #connections: Connections;
  readonly #rules: SendingRules;
  readonly #scheduler: Scheduler;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: MessageProducerOptions = {}) {
    checkOptions(options, PRODUCER_CHECKS, []);
    const { maxTries, clock, random, ...clients } = withDefaults(options, PRODUCER_DEFAULTS);
    this.#connections = connect(clients);
    this.#scheduler = new Scheduler(clients.scheduler);
    this.#rules = { maxTries, clock, random };
  }

  /**
   * Resolves once the destination has accepted the message, or, for FIFO, had accepted it before.
   * @param options ends the request in flight, so that sending ends in time: pass the `execution` of an idempotent
   * handler, or `{ signal }`. A request that was ended may have been sent. Without it, each request times out after 10
   * seconds.
   * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) and PayloadInvalidError (`PAYLOAD_INVALID`) before anything is
   * sent; SendFailedError (`SEND_FAILED`): send the same message again.
   */
  async send(message: OutgoingMessage, options?: SendOptions): Promise<SentMessage> {
    const prepared = prepareMessage("the message", message);
    checkSize("the message", prepared);
    const [sent] = await this.#sendAll([prepared], options);
    return sent!;
  }

  /**
   * Sends any number of messages to any number of destinations. Returns the results in the given order, once all are
   * accepted. If one message is invalid, nothing is sent.
   * @param options as for `send`
   * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) and PayloadInvalidError (`PAYLOAD_INVALID`) before anything is
   * sent; SendFailedError (`SEND_FAILED`), with a result for each message. After a message to a FIFO destination failed,
   * the rest of its group wasn't sent. Send all of them again, or only those in `failed`.
   */
  async sendBatch(
    messages: readonly OutgoingMessage[],
    options?: SendOptions,
  ): Promise<readonly SentMessage[]> {
    const prepared = prepareMessages(messages);
    for (const [index, message] of prepared.entries()) checkSize(`messages[${index}]`, message);
    return this.#sendAll(prepared, options);
  }

  /**
   * Takes back a message with `deliverAt` before it is due: pass the same message as to `send`, with the same `deliverAt`.
   * Resolves to `false` if it isn't scheduled: it was delivered, taken back before, or never sent. A message that is due at
   * this moment may still arrive, so its consumer must be able to cope with it.
   * @param options as for `send`
   * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) and PayloadInvalidError (`PAYLOAD_INVALID`) before anything is
   * sent; the client's error: call it again.
   */
  async cancel(message: OutgoingMessage, options?: SendOptions): Promise<boolean> {
    return this.#scheduler.remove(prepareMessage("the message", message), signalOf(options));
  }

  async #sendAll(messages: readonly StoredMessage[], options?: SendOptions): Promise<readonly SentMessage[]> {
    const rules = { ...this.#rules, signal: signalOf(options) };
    return allSent(await deliver(messages, this.#connections, rules));
  }
}
