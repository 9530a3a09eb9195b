// This package with its previous claim, to show the gain of the present claim by itself. At the edge of the same
// client, the insert of a record becomes the update that did everything under one condition. That condition is
// unchanged.
import { type DynamoDBClient, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { DynamoDBClientLike } from "onceonly/dynamodb";

const CLAIMABLE =
  "attribute_not_exists(#partitionKey) OR " +
  "#version = :version AND (attribute_not_exists(#expiresAt) OR #expiresAt > :nowSeconds) AND " +
  "(#state = :released AND (attribute_not_exists(#steps) OR #fingerprint IN (:same0)) OR " +
  "#state = :inProgress AND #leaseEndsAt < :now AND #fingerprint IN (:same0))";

const BEGIN =
  "ADD #attempt :one SET #createdAt = if_not_exists(#createdAt, :now), #version = :version,#token = :token," +
  "#fingerprint = :fingerprint,#expiresAt = :expiresAt,#state = :state,#leaseEndsAt = :leaseEndsAt " +
  "REMOVE #result,#resultItem,#resultBytes,#completedAt";

const NAMES = Object.fromEntries(
  Array.from(`${CLAIMABLE} ${BEGIN}`.matchAll(/#(\w+)/g), ([alias, name]) => [
    alias,
    name === "partitionKey" ? "pk" : String(name),
  ]),
);

export function formerClaimClient(client: DynamoDBClient): DynamoDBClientLike {
  const { config, middlewareStack } = client;
  const send = (command: Parameters<DynamoDBClient["send"]>[0]) => client.send(formerly(command));
  return { config, middlewareStack, send } as DynamoDBClientLike;
}

function formerly<Command extends object>(command: Command): Command {
  if (!(command instanceof PutItemCommand) || !command.input.ConditionExpression) return command;
  const { TableName, Item = {} } = command.input;
  const { pk, version, token, fingerprint, expiresAt, state, leaseEndsAt, createdAt } = Item;
  const update = new UpdateItemCommand({
    TableName,
    Key: { pk: pk as { S: string } },
    ConditionExpression: CLAIMABLE,
    UpdateExpression: BEGIN,
    ExpressionAttributeNames: NAMES,
    ExpressionAttributeValues: {
      ":same0": fingerprint as { S: string },
      ":now": createdAt as { N: string },
      ":nowSeconds": { N: `${Math.floor(Number(createdAt?.N) / 1000)}` },
      ":released": { S: "released" },
      ":inProgress": { S: "in-progress" },
      ":one": { N: "1" },
      ":version": version as { N: string },
      ":token": token as { S: string },
      ":fingerprint": fingerprint as { S: string },
      ":expiresAt": expiresAt as { N: string },
      ":state": state as { S: string },
      ":leaseEndsAt": leaseEndsAt as { N: string },
    },
    ReturnValues: "ALL_OLD",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  return update as unknown as Command;
}
