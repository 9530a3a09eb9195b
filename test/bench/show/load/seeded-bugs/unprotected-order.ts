// POST /orders as one writes it who takes a request for sent once: the control of the load.
import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from "aws-lambda";
import { newOrder, orderView, readOrderRequest } from "../../../../../functions/order.ts";
import { json } from "../../../../../functions/response.ts";

const { ORDERS_TABLE, PAYMENTS_QUEUE_URL } = process.env;
const client = DynamoDBDocumentClient.from(new DynamoDBClient());
const sqs = new SQSClient();

export const handler = async (event: APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>) => {
  const request = readOrderRequest(event);
  if ("problem" in request) return json(400, { message: request.problem });

  const { tenant } = event.requestContext.authorizer.lambda;
  const key = event.headers["idempotency-key"] ?? "";
  const order = newOrder(request, tenant, key.replaceAll('"', ""));
  await client.send(new PutCommand({ TableName: ORDERS_TABLE, Item: { ...order } }));
  await sqs.send(
    new SendMessageBatchCommand({
      QueueUrl: PAYMENTS_QUEUE_URL,
      Entries: [
        {
          Id: "order",
          MessageBody: JSON.stringify({ tenant, orderId: order.id }),
          MessageGroupId: order.id,
          MessageDeduplicationId: randomUUID(),
        },
      ],
    }),
  );
  return json(201, orderView(order), { location: `/orders/${order.id}` });
};
