/** Sends messages to one FIFO queue, under derived ids and with the envelope. */
import { PayloadInvalidError } from "../core/errors.ts";
import { type Address, parseAddress } from "../core/messages/address.ts";
import { refuseTwins } from "../core/messages/prepare-message.ts";
import type { SentMessage } from "../core/messages/send-result.ts";
import { checkOptions } from "../core/option-checks.ts";
import { withDefaults } from "../core/with-defaults.ts";
import { allSent, sendEach } from "./deliver.ts";
import { DestinationQueue, type Entry, type SendingRules } from "./destination-queue.ts";
import { type FifoMessage, type FifoResend, prepareFifo, prepareResend } from "./fifo-message.ts";
import { CHECKS, DEFAULTS, type FifoProducerOptions, type SendOptions, signalOf } from "./options.ts";
import { connectToSqs, deduplicationIdOf, SQS_MAX_BYTES, type SqsForm, sqsEntry } from "./sqs-and-sns.ts";

/**
 * Sends to one FIFO queue. Every message carries an envelope with its idempotency key, and a deduplication id derived
 * from group and key. Sending it again within 5 minutes sends nothing new. After that, the consumer's idempotency
 * recognises the duplicate by the same key.
 *
 * The order within a group holds even if sending fails: a message leaves only after SQS has accepted the previous one. A
 * request therefore carries at most one message of each group, 10 messages and 1 MiB. Overlapping calls aren't ordered
 * among each other.
 */
export class FifoProducer {
  readonly #queue: Address;
  readonly #rules: SendingRules;
  readonly #connection: ReturnType<typeof connectToSqs>;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: FifoProducerOptions) {
    checkOptions(options, CHECKS, ["queueUrl"]);
    const { queueUrl, client, ...rules } = withDefaults(options, DEFAULTS);
    this.#queue = parseAddress("queue", queueUrl)!;
    this.#rules = rules;
    // Started during initialization, when Lambda gives the function most CPU.
    this.#connection = connectToSqs(client);
    // The call that sends gets the error.
    this.#connection.catch(() => {});
  }

  /**
   * Resolves once SQS has accepted the message, or had accepted it before.
   * @param options ends the request in flight, so that sending ends in time: pass the `execution` of an idempotent
   * handler, or `{ signal }`. A request that was ended may have been sent. Without it, each request times out after 10
   * seconds.
   * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) and PayloadInvalidError (`PAYLOAD_INVALID`) before anything is
   * sent; SendFailedError (`SEND_FAILED`): send the same message again.
   */
  async send(message: FifoMessage, options?: SendOptions): Promise<SentMessage> {
    const prepared = prepareFifo("the message", this.#queue.text, message);
    const [sent] = await this.#sendAll([sqsEntry(prepared)], options);
    return sent!;
  }

  /**
   * Sends any number of messages, within a group in the given order. Returns the results in that order, once all are
   * accepted. If one message is invalid, nothing is sent.
   * @param options as for `send`
   * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) and PayloadInvalidError (`PAYLOAD_INVALID`) before anything is
   * sent; SendFailedError (`SEND_FAILED`), with a result for each message. After a message failed, the rest of its group
   * wasn't sent. Send all of them again, or only those in `failed`.
   */
  async sendBatch(messages: readonly FifoMessage[], options?: SendOptions): Promise<readonly SentMessage[]> {
    if (!Array.isArray(messages)) throw new PayloadInvalidError("`messages` must be an array");
    const prepared = Array.from(messages as readonly FifoMessage[], (message, index) =>
      prepareFifo(`messages[${index}]`, this.#queue.text, message),
    );
    refuseTwins(prepared);
    return this.#sendAll(
      prepared.map((message) => sqsEntry(message)),
      options,
    );
  }

  /**
   * Sends a message again on purpose. Within 5 minutes of the last send, SQS would drop it, even if the previous copy
   * failed or is gone. Each `attempt` gets a new deduplication id, and the envelope keeps the key. So a consumer that has
   * completed the operation doesn't run it again.
   * @param options as for `send`
   * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) and PayloadInvalidError (`PAYLOAD_INVALID`) before anything is
   * sent; SendFailedError (`SEND_FAILED`): call again with the same `attempt`.
   */
  async resend(message: FifoResend, options?: SendOptions): Promise<SentMessage> {
    const prepared = prepareResend("the message", this.#queue.text, message);
    const { attempt } = message;
    const entry = sqsEntry(prepared, ({ group, key }) => deduplicationIdOf(group, key, attempt));
    const [sent] = await this.#sendAll([entry], options);
    return sent!;
  }

  async #sendAll(entries: readonly Entry<SqsForm>[], options?: SendOptions): Promise<readonly SentMessage[]> {
    const request = async (forms: readonly SqsForm[], signal?: AbortSignal) =>
      (await this.#connection)(this.#queue)(forms, signal);
    const queue = new DestinationQueue(request, SQS_MAX_BYTES, { ...this.#rules, signal: signalOf(options) });
    return allSent(await sendEach(entries, (entry, end) => queue.add(entry, end)));
  }
}
