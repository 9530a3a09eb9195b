import { DynamoDBClient, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { APIGatewayProxyHandlerV2 } from "aws-lambda";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const { FLIGHTS_TABLE, BOOKINGS_TABLE } = process.env;

export const handler: APIGatewayProxyHandlerV2 = async (event) => {
  const { bookingId, flight, passenger } = JSON.parse(event.body ?? "{}");
  try {
    await db.send(
      new TransactWriteCommand({
        ClientRequestToken: event.headers["idempotency-key"],
        TransactItems: [
          {
            Update: {
              TableName: FLIGHTS_TABLE,
              Key: { flight },
              UpdateExpression: "SET seats = seats - :one",
              ConditionExpression: "seats >= :one",
              ExpressionAttributeValues: { ":one": 1 },
            },
          },
          {
            Put: {
              TableName: BOOKINGS_TABLE,
              Item: { bookingId, flight, passenger },
              ConditionExpression: "attribute_not_exists(bookingId)",
            },
          },
        ],
      }),
    );
    return { statusCode: 201, body: JSON.stringify({ bookingId }) };
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    return { statusCode: 409, body: JSON.stringify({ message: "full, or booked already" }) };
  }
};
