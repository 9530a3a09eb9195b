// The ledger of the sandbox gateway: an item for each idempotency key, with the number of attempts and the
// one charge.
import { randomUUID } from "node:crypto";
import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";

const TableName = process.env.LEDGER_TABLE;
const ledger = DynamoDBDocumentClient.from(new DynamoDBClient());

export interface ChargeRequest {
  readonly orderId: string;
  readonly amountCents: number;
  readonly card: string;
}

/** The number of this attempt, from 1; `undefined` when the key was used for another charge. */
export async function enterAttempt(
  idempotencyKey: string,
  { orderId, amountCents, card }: ChargeRequest,
): Promise<number | undefined> {
  try {
    const { Attributes } = await ledger.send(
      new UpdateCommand({
        TableName,
        Key: { idempotencyKey },
        UpdateExpression: "SET orderId = :order, amountCents = :amount, card = :card ADD attempts :one",
        // The key is new, or stands for the same charge.
        ConditionExpression:
          "attribute_not_exists(idempotencyKey) OR (orderId = :order AND amountCents = :amount AND card = :card)",
        ExpressionAttributeValues: { ":order": orderId, ":amount": amountCents, ":card": card, ":one": 1 },
        ReturnValues: "UPDATED_NEW",
      }),
    );
    return Attributes?.attempts;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}

/** Charges under the key unless that was done before; returns the id of the one charge. */
export async function chargeOnce(idempotencyKey: string): Promise<string> {
  const { Attributes } = await ledger.send(
    new UpdateCommand({
      TableName,
      Key: { idempotencyKey },
      UpdateExpression:
        "SET chargeId = if_not_exists(chargeId, :id), chargedAt = if_not_exists(chargedAt, :now)",
      ExpressionAttributeValues: { ":id": randomUUID(), ":now": new Date().toISOString() },
      ReturnValues: "ALL_NEW",
    }),
  );
  return Attributes?.chargeId;
}

/** The entry under a key; `undefined` if there is none. */
export async function findEntry(idempotencyKey: string): Promise<Record<string, unknown> | undefined> {
  const { Item } = await ledger.send(
    new GetCommand({ TableName, Key: { idempotencyKey }, ConsistentRead: true }),
  );
  return Item;
}

/** Writes an entry, the same for each repetition. */
export async function enter(idempotencyKey: string, entry: object): Promise<void> {
  await ledger.send(new PutCommand({ TableName, Item: { idempotencyKey, ...entry } }));
}

/** Refunds the charge under a key, unless there is none or it was already refunded. */
export async function refundOnce(chargeKey: string, refundKey: string): Promise<void> {
  try {
    await ledger.send(
      new UpdateCommand({
        TableName,
        Key: { idempotencyKey: chargeKey },
        UpdateExpression: "SET refundedBy = if_not_exists(refundedBy, :refund)",
        ConditionExpression: "attribute_exists(chargeId)",
        ExpressionAttributeValues: { ":refund": refundKey },
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
