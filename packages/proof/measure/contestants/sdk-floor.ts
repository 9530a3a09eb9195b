// The lower bound for anyone who uses the SDK's client: its commands, and nothing else.
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { type CallOnce, callOnceBy, type Item } from "./least.ts";

export function floor(tableName: string): CallOnce {
  const client = new DynamoDBClient({});
  return callOnceBy(tableName, {
    async put(input) {
      try {
        await client.send(new PutItemCommand(input));
        return {};
      } catch (error) {
        return { refusedBy: (error as { Item: Item }).Item };
      }
    },
    update: (input) => client.send(new UpdateItemCommand(input)),
  });
}
