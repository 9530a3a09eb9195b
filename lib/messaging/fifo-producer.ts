/** Sends messages to one FIFO queue, under derived ids and with the envelope. */
import { PayloadInvalidError } from "../core/errors.ts";
import { type Address, parseAddress } from "../core/messages/address.ts";
import { refuseTwins } from "../core/messages/prepare-message.ts";
import type { SentMessage } from "../core/messages/send-result.ts";
import { checkOptions } from "../core/option-checks.ts";
import { withDefaults } from "../core/options.ts";
import { allSent, sendEach } from "./deliver.ts";
import { DestinationQueue, type Entry, type SendingRules } from "./destination-queue.ts";
import { type FifoMessage, type FifoResend, prepareFifo, prepareResend } from "./fifo-message.ts";
import { CHECKS, DEFAULTS, type FifoProducerOptions, type SendOptions, signalOf } from "./options.ts";
import { connectToSqs, deduplicationIdOf, SQS_MAX_BYTES, type SqsForm, sqsEntry } from "./sqs-and-sns.ts";

/**
 * Sends to one FIFO queue. Every message carries the envelope with its idempotency key, and a deduplication id that is
 * derived from group and key. Sending the message again within 5 minutes sends nothing new. After that the consumer's idempotency under the
 * same key has to recognise the duplicate.
 *
 * The order within a group holds, also when sending fails: a message leaves only after SQS has accepted the one before
 * it. A request therefore carries at most one message of each group, 10 messages and 1 MiB. Calls that overlap are not
 * ordered among each other.
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
    // Begun while the function starts, where Lambda gives it most of the processor.
    this.#connection = connectToSqs(client);
    // The call that sends is told.
    this.#connection.catch(() => {});
  }

  /**
   * Resolves once SQS has accepted the message, or had accepted it before.
   * @param options ends the request that is under way, so that sending ends in time: pass the `execution` of an idempotent handler, or
   * `{ signal }`. A request that was ended may have been sent. Without it each request ends after 10 seconds.
   * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) and PayloadInvalidError (`PAYLOAD_INVALID`) before anything is
   * sent; SendFailedError (`SEND_FAILED`): send the same again.
   */
  async send(message: FifoMessage, options?: SendOptions): Promise<SentMessage> {
    const prepared = prepareFifo("the message", this.#queue.text, message);
    const [sent] = await this.#sendAll([sqsEntry(prepared)], options);
    return sent!;
  }

  /**
   * Sends any number of messages; within a group in the order given. Answers in that order, once all are accepted.
   * Nothing is sent if one of them is not valid.
   * @param options as that of `send`
   * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) and PayloadInvalidError (`PAYLOAD_INVALID`) before anything is
   * sent; SendFailedError (`SEND_FAILED`), with a result for each message. After a message that failed, none of its
   * group was sent. Send the same again, or only what `failed` names.
   */
  async sendBatch(messages: readonly FifoMessage[], options?: SendOptions): Promise<readonly SentMessage[]> {
    if (!Array.isArray(messages)) throw new PayloadInvalidError("the messages must be an array");
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
   * Sends a message again on purpose. Within 5 minutes of the last send SQS would drop it, even though the former copy has
   * failed or is gone. The deduplication id is new for each `attempt`, and the envelope keeps the key. So a
   * consumer that has completed the operation does not run it again.
   * @param options as that of `send`
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
