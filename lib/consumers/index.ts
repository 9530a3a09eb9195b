/** Entry "onceonly/consumers": Kafka, RabbitMQ and NATS messages, acknowledged after the commit. */
export type { Delivery } from "./delivery.ts";
export { type EnvelopeHeaders, envelopeHeaders } from "./envelope-headers.ts";
export {
  idempotentConsumer,
  type MessageEnd,
  type MessageHandler,
} from "./idempotent-consumer.ts";
export {
  type KafkaBatchLike,
  type KafkaEachBatch,
  type KafkaMessageLike,
  kafkaEachBatch,
  kafkaEachMessage,
} from "./kafka.ts";
export { type JetStreamMessageLike, type NatsOptions, natsConsumer } from "./nats.ts";
export type { ConsumerOptions } from "./options.ts";
export {
  type RabbitMqChannelLike,
  type RabbitMqMessageLike,
  type RabbitMqOptions,
  rabbitMqConsumer,
} from "./rabbitmq.ts";
