const { BatchProcessor, EventType, processPartialResponse } = require("@aws-lambda-powertools/batch");
const { DynamoDBClient, TransactionCanceledException } = require("@aws-sdk/client-dynamodb");
const { DynamoDBDocumentClient, TransactWriteCommand } = require("@aws-sdk/lib-dynamodb");

const processor = new BatchProcessor(EventType.SQS);
const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));

// The points and the mark that this message has been counted commit together.
const recordHandler = async ({ messageId, body }) => {
  const { customerId, points } = JSON.parse(body);
  const Put = {
    TableName: process.env.COUNTED_TABLE,
    Item: { messageId },
    ConditionExpression: "attribute_not_exists(messageId)",
  };
  const Update = {
    TableName: process.env.LOYALTY_TABLE,
    Key: { customerId },
    UpdateExpression: "ADD points :points",
    ExpressionAttributeValues: { ":points": points },
  };
  try {
    await db.send(new TransactWriteCommand({ TransactItems: [{ Put }, { Update }] }));
  } catch (error) {
    const isCounted =
      error instanceof TransactionCanceledException &&
      error.CancellationReasons[0].Code === "ConditionalCheckFailed";
    if (!isCounted) throw error;
  }
};

exports.handler = async (event, context) =>
  processPartialResponse(event, recordHandler, processor, { context });
