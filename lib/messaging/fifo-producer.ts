/** Sends messages to one FIFO queue, under derived ids and with the envelope. */
import {
  MessageIdInvalidError,
  PayloadInvalidError,
  SendFailedError,
  type SentMessage,
} from "../core/errors.ts";
import { checkOptions } from "../core/option-checks.ts";
import { withDefaults } from "../core/options.ts";
import {
  type FifoMessage,
  type FifoResend,
  type PreparedMessage,
  prepareMessage,
  prepareResend,
} from "./fifo-message.ts";
import { CHECKS, DEFAULTS, type FifoProducerOptions } from "./options.ts";
import { type BatchEntry, type SendingRules, sendInOrder } from "./send-in-order.ts";
import { connectToSqs, type SendBatch } from "./sqs-client.ts";

/**
 * Sends to one FIFO queue. Every message carries the envelope with its idempotency key, and a deduplication id derived
 * from group and key: whoever sends it again within 5 minutes sends nothing new. After that the consumer's idempotency
 * under the same key has to tell that it is a duplicate.
 *
 * The order within a group holds, also when sending fails: a message leaves only after SQS has accepted the one before
 * it. A request therefore carries at most one message of each group, 10 messages and 1 MiB. Calls that overlap are not
 * ordered among each other.
 */
export class FifoProducer {
  readonly #queueUrl: string;
  readonly #rules: SendingRules;
  readonly #connection: Promise<SendBatch>;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: FifoProducerOptions) {
    checkOptions(options, CHECKS, ["queueUrl"]);
    const { queueUrl, client, ...rules } = withDefaults(options, DEFAULTS);
    this.#queueUrl = queueUrl as string;
    this.#rules = rules;
    // Begun while the function starts, where Lambda gives it most of the processor.
    this.#connection = connectToSqs(client);
    // Whoever sends is told.
    this.#connection.catch(() => {});
  }

  /**
   * Resolves once SQS has accepted the message, or had accepted it before.
   * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) and PayloadInvalidError (`PAYLOAD_INVALID`) before anything is
   * sent; SendFailedError (`SEND_FAILED`): send the same again.
   */
  async send(message: FifoMessage): Promise<SentMessage> {
    const [sent] = await this.#sendAll([prepareMessage("the message", message)]);
    return sent!;
  }

  /**
   * Sends any number of messages; within a group in the order given. Answers in that order, once all are accepted.
   * Nothing is sent if one of them is not valid.
   * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) and PayloadInvalidError (`PAYLOAD_INVALID`) before anything is
   * sent; SendFailedError (`SEND_FAILED`), with a result for each message: after a message that failed, none of its
   * group was sent. Send the same again, or only what `failed` names.
   */
  async sendBatch(messages: readonly FifoMessage[]): Promise<readonly SentMessage[]> {
    if (!Array.isArray(messages)) throw new PayloadInvalidError("the messages must be an array");
    const prepared = Array.from(messages as readonly FifoMessage[], (message, index) =>
      prepareMessage(`messages[${index}]`, message),
    );
    refuseTwins(prepared);
    return this.#sendAll(prepared);
  }

  /**
   * Sends a message again on purpose, also within 5 minutes of its last send, when SQS would drop it even though the
   * former copy has failed or is gone. The deduplication id is new for each `attempt`, the envelope keeps the key: a
   * consumer that has completed the operation does not run it again.
   * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) and PayloadInvalidError (`PAYLOAD_INVALID`) before anything is
   * sent; SendFailedError (`SEND_FAILED`): call again with the same `attempt`.
   */
  async resend(message: FifoResend): Promise<SentMessage> {
    const [sent] = await this.#sendAll([prepareResend("the message", message)]);
    return sent!;
  }

  async #sendAll(messages: readonly PreparedMessage[]): Promise<readonly SentMessage[]> {
    const request = async (entries: BatchEntry[]) => (await this.#connection)(this.#queueUrl, entries);
    const { results, cause } = await sendInOrder(messages, request, this.#rules);
    const sent = results.filter((result) => result.sent);
    if (sent.length < results.length) throw new SendFailedError(results, cause);
    return sent;
  }
}

/** SQS would take the first of two messages under one id, and drop the other, whatever it says. */
function refuseTwins(messages: readonly PreparedMessage[]): void {
  const first = new Map<string, number>();
  for (const [index, { MessageDeduplicationId, MessageBody }] of messages.entries()) {
    const earlier = first.get(MessageDeduplicationId);
    if (earlier === undefined) first.set(MessageDeduplicationId, index);
    else if (messages[earlier]!.MessageBody !== MessageBody) {
      throw new MessageIdInvalidError(
        `messages[${index}]: has group and key of messages[${earlier}] and another body: give each message its own key`,
      );
    }
  }
}
