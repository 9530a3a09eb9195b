const { BatchProcessor, EventType, processPartialResponse } = require("@aws-lambda-powertools/batch");
const { IdempotencyConfig, makeIdempotent } = require("@aws-lambda-powertools/idempotency");
const { DynamoDBPersistenceLayer } = require("@aws-lambda-powertools/idempotency/dynamodb");
const { SendMessageCommand, SQSClient } = require("@aws-sdk/client-sqs");

const processor = new BatchProcessor(EventType.SQS);
const config = new IdempotencyConfig({ eventKeyJmesPath: "messageId" });
const persistenceStore = new DynamoDBPersistenceLayer({ tableName: process.env.IDEMPOTENCY_TABLE });
const sqs = new SQSClient({});

const forward = makeIdempotent(
  async ({ body, messageId }) => {
    await sqs.send(new SendMessageCommand({ QueueUrl: process.env.SHIPPING_QUEUE, MessageBody: body }));
    return { forwarded: messageId };
  },
  { config, persistenceStore },
);

exports.handler = async (event, context) => {
  config.registerLambdaContext(context);
  return processPartialResponse(event, forward, processor, { context });
};
