const { BatchProcessor, EventType, processPartialResponse } = require("@aws-lambda-powertools/batch");
const { DynamoDBClient } = require("@aws-sdk/client-dynamodb");
const { DynamoDBDocumentClient, UpdateCommand } = require("@aws-sdk/lib-dynamodb");

const processor = new BatchProcessor(EventType.SQS);
const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));

const recordHandler = async ({ body }) => {
  const { customerId, points } = JSON.parse(body);
  await db.send(
    new UpdateCommand({
      TableName: process.env.LOYALTY_TABLE,
      Key: { customerId },
      UpdateExpression: "ADD points :points",
      ExpressionAttributeValues: { ":points": points },
    }),
  );
};

exports.handler = async (event, context) =>
  processPartialResponse(event, recordHandler, processor, { context });
