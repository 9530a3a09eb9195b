const { DynamoDBClient, PutItemCommand } = require("@aws-sdk/client-dynamodb");
const { SQSClient, SendMessageCommand } = require("@aws-sdk/client-sqs");

const dynamodb = new DynamoDBClient({});
const sqs = new SQSClient({});

exports.handler = async (event) => {
  for (const { body } of event.Records) {
    const { orderId, customerId } = JSON.parse(body);
    await dynamodb.send(
      new PutItemCommand({
        TableName: process.env.ORDERS_TABLE,
        Item: { orderId: { S: orderId }, customerId: { S: customerId } },
      }),
    );
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: process.env.PACKING_QUEUE,
        MessageBody: body,
        MessageGroupId: customerId,
        MessageDeduplicationId: orderId,
      }),
    );
  }
};
