// The lower bound for any package: the two smallest writes that make a call happen once, and nothing that makes it safe.
import { randomUUID } from "node:crypto";

export type CallOnce = (key: string, handler: () => Promise<unknown>) => Promise<unknown>;

export type Item = Record<string, { S: string }>;

interface Requests {
  /** Resolves to the record that refused the claim, if one did. */
  put(input: ReturnType<typeof claimOf>): Promise<{ readonly refusedBy?: Item }>;
  update(input: ReturnType<typeof completionOf>): Promise<unknown>;
}

export function callOnceBy(TableName: string, { put, update }: Requests): CallOnce {
  return async (key, handler) => {
    const { refusedBy } = await put(claimOf(TableName, key));
    if (refusedBy) return JSON.parse(String(refusedBy.result?.S));
    const result = await handler();
    await update(completionOf(TableName, key, JSON.stringify(result)));
    return result;
  };
}

function claimOf(TableName: string, key: string) {
  return {
    TableName,
    Item: { pk: { S: key }, token: { S: randomUUID() } },
    ConditionExpression: "attribute_not_exists(pk)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
  };
}

function completionOf(TableName: string, key: string, result: string) {
  return {
    TableName,
    Key: { pk: { S: key } },
    UpdateExpression: "SET #result = :result",
    ExpressionAttributeNames: { "#result": "result" },
    ExpressionAttributeValues: { ":result": { S: result } },
  };
}
