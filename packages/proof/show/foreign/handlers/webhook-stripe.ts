import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { PublishCommand, SNSClient } from "@aws-sdk/client-sns";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { APIGatewayProxyHandlerV2 } from "aws-lambda";
import Stripe from "stripe";

const stripe = new Stripe(process.env.STRIPE_SECRET_KEY ?? "");
const ddb = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const sns = new SNSClient({});

export const handler: APIGatewayProxyHandlerV2 = async ({ body = "", headers }) => {
  const signature = headers["stripe-signature"] ?? "";
  const event = stripe.webhooks.constructEvent(body, signature, process.env.STRIPE_WEBHOOK_SECRET ?? "");

  if (event.type === "payment_intent.succeeded") {
    const { orderId = "" } = event.data.object.metadata;
    await ddb.send(
      new UpdateCommand({
        TableName: process.env.ORDERS_TABLE,
        Key: { orderId },
        UpdateExpression: "SET paid = :true",
        ExpressionAttributeValues: { ":true": true },
      }),
    );
    await sns.send(new PublishCommand({ TopicArn: process.env.RECEIPTS_TOPIC, Message: orderId }));
  }
  return { statusCode: 200, body: "received" };
};
