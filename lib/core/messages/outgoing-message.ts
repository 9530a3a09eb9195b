/** An outgoing message: as callers pass it, and as it is stored and sent after it was checked. */

/** Text, and numbers that are written without an exponent, by name. */
export type MessageAttributes = Readonly<Record<string, string | number>>;

export interface MessageContent {
  /**
   * The idempotency key: names the one operation that the message asks for, the same at every try to send it. Two messages
   * about one order need two keys, such as `order-7/created` and `order-7/cancelled`. 1 to 255 characters.
   */
  readonly key: string;
  /** A string is sent as it is, anything else as JSON, which must represent it faithfully. */
  readonly body: unknown;
  /**
   * W3C trace context, for the envelope. A malformed one is left out.
   * @default - in a commit, the attempt's trace context
   */
  readonly traceparent?: string | undefined;
}

interface TimedContent extends MessageContent {
  /**
   * When the destination gets the message, to the minute: a `Date`, or an ISO 8601 string with a time and `Z` or an offset. Needs
   * `scheduler` of the relay or producer, which creates a schedule in EventBridge Scheduler. A time in the past sends the message
   * immediately. At most 240 KiB with attributes. There's no order, not even in a FIFO group.
   * @default - it's sent immediately
   */
  readonly deliverAt?: Date | string | undefined;
}

interface GroupedContent extends TimedContent {
  /**
   * Names the sequence that stays in order, such as the id of the order: 1 to 255 characters. FIFO queues and topics require a
   * group; for others the group only spreads the load fairly.
   */
  readonly group?: string | undefined;
  /**
   * Attributes that consumers and SNS filter policies read without the body: at most 9 strings and numbers, which count towards
   * the size. Names that begin with `Onceonly`, `AWS.` or `Amazon.` are reserved.
   */
  readonly attributes?: MessageAttributes | undefined;
}

/** A message for an SQS queue: at most 1 MiB with the envelope. */
export interface QueueMessage extends GroupedContent {
  /** URL of the queue. `undefined`, as from an unset environment variable, is refused. */
  readonly queue: string | undefined;
  /**
   * Standard queues only: the queue delays the message by this number of whole seconds, 0 to 900.
   * @default - the queue's own setting
   */
  readonly delaySeconds?: number | undefined;
  readonly topic?: never;
  readonly bus?: never;
  readonly source?: never;
  readonly detailType?: never;
}

/** A message for an SNS topic: 4 KiB less than the topic's `MaximumMessageSize`, so 252 KiB by default. */
export interface TopicMessage extends GroupedContent {
  /** ARN of the topic. `undefined` is refused. */
  readonly topic: string | undefined;
  /**
   * The topic's own attribute of this name, in bytes: 5120 to 1048576, of which 4096 are reserved for the envelope. Set it for a topic that
   * accepts larger messages: a sender can't see the attribute, so a larger message is refused without it.
   * @default 262144 (256 KiB)
   */
  readonly maximumMessageSize?: number | undefined;
  readonly delaySeconds?: never;
  readonly queue?: never;
  readonly bus?: never;
  readonly source?: never;
  readonly detailType?: never;
}

/** An event for an EventBridge bus: `body` is its detail, an object of at most 1020 KiB, to which the envelope is added. */
export interface BusMessage extends TimedContent {
  /** Name or ARN of the bus. `undefined` is refused. */
  readonly bus: string | undefined;
  /** The sender's name, which rules match: 1 to 128 characters. */
  readonly source: string;
  /** 1 to 128 characters. */
  readonly detailType: string;
  readonly attributes?: never;
  readonly delaySeconds?: never;
  readonly group?: never;
  readonly queue?: never;
  readonly topic?: never;
}

export type OutgoingMessage = QueueMessage | TopicMessage | BusMessage;

/** A checked message, with its body as the text that is sent. Survives JSON. */
export type StoredMessage = OutgoingMessage & {
  readonly body: string;
  /** In UTC. */
  readonly deliverAt?: string | undefined;
  /** When its commit was made (epoch ms), read from the record. Absent for a message without a commit. */
  readonly committedAt?: number;
};
