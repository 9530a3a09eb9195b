/** The entry "onceonly-explorer/aws": DynamoDB, SQS, SNS, EventBridge, S3, SES and durable executions in memory, as their SDKs see them. */
export type { DurableExecution, DurableExecutions, DurableStatus } from "./durable/durable-executions.ts";
export { DynamoDBError, type DynamoDBErrorDetails } from "./dynamodb/dynamodb-error.ts";
export {
  DynamoDBModel,
  type DynamoDBModelOptions,
  type UsedCapacity,
} from "./dynamodb/dynamodb-model.ts";
export type { StaleRead } from "./dynamodb/dynamodb-service.ts";
export type { DynamoDBCall, Intercept } from "./dynamodb/intercept.ts";
export type { DynamoDBOperations } from "./dynamodb/operations.ts";
export type { ModelRequestHandler } from "./dynamodb/request-handler.ts";
// How event sources, topics and buses deliver, for runners such as onceonly-local.
export { type EventFilter, eventFilter } from "./event-sources/event-filter.ts";
export { type QueueBatchOptions, takeQueueBatch } from "./event-sources/queue-batch.ts";
export { sqsFilter } from "./event-sources/sqs-filter.ts";
export {
  answerIn,
  deliverBatch,
  type GivenUpBatch,
  outcomeOf,
  type StreamBatchOptions,
} from "./event-sources/stream-batch.ts";
export { lambdaRecord, type StreamRecord } from "./event-sources/stream-record.ts";
export { EventBridgeError } from "./eventbridge/eventbridge-error.ts";
export { EventBridgeModel } from "./eventbridge/eventbridge-model.ts";
export type { EventBridgeOperations, RuleTarget } from "./eventbridge/operations.ts";
export type { AcceptedEvent, EventDelivery } from "./eventbridge/service.ts";
export type { BusEvent } from "./eventbridge/target-input.ts";
export type { AwsHttpAnswer, AwsHttpCall, AwsHttpRequest } from "./http-services/http-service.ts";
export type { S3Model } from "./http-services/s3-model.ts";
export type { SentEmail, SesModel } from "./http-services/ses-model.ts";
export type { SnsNotification } from "./sns/notification.ts";
export { snsEvent } from "./sns/notification.ts";
export type { SnsOperations } from "./sns/operations.ts";
export { queryAnswer, queryError, readQueryRequest } from "./sns/query-protocol.ts";
export { queueMessage } from "./sns/queue-message.ts";
export { SnsError } from "./sns/sns-error.ts";
export { SnsModel } from "./sns/sns-model.ts";
export type { Subscription } from "./sns/topic.ts";
export type { Disorder } from "./sqs/disorder.ts";
export {
  readSqsRequest,
  type SqsJsonAnswer,
  type SqsRequest,
  sqsAnswer,
  sqsErrorAnswer,
} from "./sqs/json-protocol.ts";
export type { SqsOperations } from "./sqs/operations.ts";
export { SqsError } from "./sqs/sqs-error.ts";
export { SqsModel, type SqsModelOptions } from "./sqs/sqs-model.ts";
