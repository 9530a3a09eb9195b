import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";

const sqs = new SQSClient({});
const dynamodb = new DynamoDBClient({});
const QueueUrl = process.env.JOBS_QUEUE;

export const handler = async () => {
  for (;;) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    if (Messages.length === 0) return;
    for (const { MessageId, Body, ReceiptHandle } of Messages) {
      await dynamodb.send(
        new PutItemCommand({
          TableName: process.env.DONE_TABLE,
          Item: { messageId: { S: MessageId }, job: { S: Body } },
        }),
      );
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
};
