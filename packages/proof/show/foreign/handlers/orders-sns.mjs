import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { PublishCommand, SNSClient } from "@aws-sdk/client-sns";
import { marshall } from "@aws-sdk/util-dynamodb";

const dynamodb = new DynamoDBClient({ region: process.env.AWS_REGION });
const sns = new SNSClient({ region: process.env.AWS_REGION });

export const handler = async (event) => {
  const order = JSON.parse(event.body);

  await dynamodb.send(new PutItemCommand({ TableName: process.env.ORDERS_TABLE, Item: marshall(order) }));
  await sns.send(
    new PublishCommand({
      TopicArn: process.env.ORDERS_TOPIC,
      Message: JSON.stringify(order),
      MessageAttributes: { type: { DataType: "String", StringValue: "order-placed" } },
    }),
  );

  return { statusCode: 202, body: JSON.stringify({ orderId: order.orderId }) };
};
