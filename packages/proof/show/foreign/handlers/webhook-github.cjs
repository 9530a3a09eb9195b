const crypto = require("crypto");
const { DynamoDBClient, PutItemCommand } = require("@aws-sdk/client-dynamodb");
const { SQSClient, SendMessageCommand } = require("@aws-sdk/client-sqs");

const dynamodb = new DynamoDBClient();
const sqs = new SQSClient();

const isSigned = (body, signature) => {
  const own = `sha256=${crypto.createHmac("sha256", process.env.WEBHOOK_SECRET).update(body).digest("hex")}`;
  return own.length === signature.length && crypto.timingSafeEqual(Buffer.from(own), Buffer.from(signature));
};

exports.handler = async ({ headers, body }) => {
  if (!isSigned(body, headers["x-hub-signature-256"])) return { statusCode: 401, body: "bad signature" };
  try {
    await dynamodb.send(
      new PutItemCommand({
        TableName: process.env.DELIVERIES_TABLE,
        Item: { delivery: { S: headers["x-github-delivery"] } },
        ConditionExpression: "attribute_not_exists(delivery)",
      }),
    );
  } catch (error) {
    if (error.name === "ConditionalCheckFailedException") return { statusCode: 202, body: "accepted" };
    throw error;
  }
  await sqs.send(new SendMessageCommand({ QueueUrl: process.env.BUILDS_QUEUE, MessageBody: body }));
  return { statusCode: 202, body: "accepted" };
};
