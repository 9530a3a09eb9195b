// The model below the AWS SDK's clients, and what speaks its protocol without them.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { refused } from "./cases/case.ts";
import { modelWithTable } from "./given.ts";

describe("DynamoDBModel below clients", () => {
  it("serves document clients", async () => {
    const { model, TableName } = await modelWithTable();
    const client = DynamoDBDocumentClient.from(new DynamoDBClient(model.clientConfig()));
    const Item = {
      pk: "a",
      bytes: new Uint8Array([1]),
      set: new Set(["x"]),
      nested: { B: "text", BS: ["text"] },
    };

    await client.send(new PutCommand({ TableName, Item }));
    const Put = { TableName, Item, ConditionExpression: "attribute_not_exists(pk)" };
    const refusal = await refused(
      client.send(new TransactWriteCommand({ TransactItems: [{ Put }] })),
      "TransactionCanceledException",
    );

    expect((await client.send(new GetCommand({ TableName, Key: { pk: "a" } }))).Item).toEqual(Item);
    expect(refusal.CancellationReasons).toMatchObject([{ Code: "ConditionalCheckFailed" }]);
  });

  it("reports its clock's time", async () => {
    const { clock, model } = await modelWithTable();
    const request = { headers: { "x-amz-target": "DynamoDB_20120810.ListTables" }, body: "{}" };

    const { response } = await model.requestHandler().handle(request);

    expect(response.headers.date).toBe(new Date(clock.now()).toUTCString());
  });

  it("rejects anything but its protocol", async () => {
    const { model } = await modelWithTable();
    const handler = model.requestHandler();
    const target = "DynamoDB_20120810.ListTables";
    const answerTo = async (headers: Record<string, string>, body: string) => {
      const { response } = await handler.handle({ headers, body });
      return [response.statusCode, JSON.parse(new TextDecoder().decode(response.body)).__type];
    };
    const unknown = "com.amazonaws.dynamodb.v20120810#UnknownOperationException";
    const malformed = "com.amazonaws.dynamodb.v20120810#SerializationException";

    expect(await answerTo({}, "{}")).toEqual([400, unknown]);
    expect(await answerTo({ "x-amz-target": "DynamoDB_20120810.Nothing" }, "{}")).toEqual([400, unknown]);
    for (const body of ["{", "1", '{"Item":{"a":{"B":"$"}}}', '{"Item":{"a":{"BS":[1]}}}']) {
      expect(await answerTo({ "x-amz-target": target }, body)).toEqual([400, malformed]);
    }
    const item = (value: string) => `{"TableName":"any","Item":{"pk":${value}}}`;
    for (const value of ['{"S":1}', '{"SS":1}', '{"BOOL":"true"}', "1", '{"SS":[1]}', '{"M":[]}']) {
      expect(await answerTo({ "x-amz-target": "DynamoDB_20120810.PutItem" }, item(value))).toEqual([
        400,
        malformed,
      ]);
    }
  });
});
