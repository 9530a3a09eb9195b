import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import middy from "@middy/core";
import cors from "@middy/http-cors";
import httpErrorHandler from "@middy/http-error-handler";
import httpJsonBodyParser from "@middy/http-json-body-parser";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));

const createBooking = async (event) => {
  const { bookingId, room, night } = event.body;
  await db.send(new PutCommand({ TableName: process.env.BOOKINGS_TABLE, Item: { bookingId, room, night } }));
  return { statusCode: 201, body: JSON.stringify({ bookingId }) };
};

export const handler = middy()
  .use(httpJsonBodyParser())
  .use(cors())
  .use(httpErrorHandler({ logger: (error) => console.error(error), fallbackMessage: "try again" }))
  .handler(createBooking);
