/** The entry "onceonly/messaging": sends messages and reads them back. */

export type { S3Like } from "../core/bucket.ts";
export { OutboxTransactionTooLargeError } from "../core/handler-errors.ts";
export { BodyUnavailableError, MessageIdInvalidError, SendFailedError } from "../core/messages/errors.ts";
export type {
  ListedCommit,
  OutboxDestinationChange,
  OutboxDropOptions,
  OutboxEditOptions,
  OutboxRedirectOptions,
  OutboxSendAgainOptions,
} from "../core/messages/operated-outbox.ts";
export type { Outbox } from "../core/messages/outbox.ts";
export type { OutboxOperator } from "../core/messages/outbox-act.ts";
export type {
  BusMessage,
  MessageContent,
  OutgoingMessage,
  QueueMessage,
  TopicMessage,
} from "../core/messages/outgoing-message.ts";
export type { SendResult, SentMessage } from "../core/messages/send-result.ts";
export { traceparentFromXRay } from "../core/traceparent.ts";
export type { ClaimCheckReader } from "../lambda/batch/opened-record.ts";
export type { AwsClientLike } from "./clients.ts";
export {
  ENVELOPE_FAULTS,
  type Envelope,
  type EnvelopeFault,
  type EnvelopeReading,
  readEnvelope,
} from "./envelope.ts";
export type { FifoMessage, FifoResend } from "./fifo-message.ts";
export { FifoProducer } from "./fifo-producer.ts";
export { type KinesisMessage, type KinesisRecord, kinesisRecord } from "./kinesis.ts";
export { MessageProducer, type MessageProducerOptions } from "./message-producer.ts";
export type { FifoProducerOptions, SendOptions } from "./options.ts";
export {
  OUTBOX_EVENTS,
  type OutboxBacklogEvent,
  type OutboxCommitEvent,
  type OutboxEvent,
  type OutboxOptions,
  type OutboxSendEvent,
} from "./outbox-options.ts";
export { type OutboxRelayResponse, type OutboxStreamEvent, outboxRelay } from "./outbox-relay.ts";
export { type OutboxSweeperOptions, outboxSweeper } from "./outbox-sweeper.ts";
export {
  S3ClaimCheck,
  type S3ClaimCheckOptions,
  type UncheckedMessage,
} from "./s3-claim-check.ts";
export type { SchedulerOptions } from "./scheduler.ts";
export type { SweepReport } from "./sweep-shards.ts";
