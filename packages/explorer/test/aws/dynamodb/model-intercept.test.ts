// The seam around each call.
import { DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import type { FakeClock } from "../../../../../lib/testing/fake-clock.ts";
import { DynamoDBError } from "../../../lib/aws/dynamodb/dynamodb-error.ts";
import type { DynamoDBCall, Intercept } from "../../../lib/aws/dynamodb/intercept.ts";
import { refused } from "./cases/case.ts";
import { S } from "./cases/given.ts";
import { modelWithTable } from "./given.ts";

const Key = { pk: S("a") };

describe("DynamoDBModel, intercepted", () => {
  const seen = (calls: string[], name: string): Intercept => {
    return ({ operation }, run) => {
      calls.push(`${name} ${operation}`);
      return run();
    };
  };

  it("asks the client's interceptor first, then the model's, with the call as it came", async () => {
    const calls: string[] = [];
    const { model, TableName } = await modelWithTable({ intercept: seen(calls, "model") });
    let call: DynamoDBCall | undefined;
    const client = new DynamoDBClient(
      model.clientConfig({
        intercept: (each, run) => {
          call = each;
          return seen(calls, "client")(each, run);
        },
      }),
    );

    await client.send(new PutItemCommand({ TableName, Item: Key }));

    expect(calls.slice(1)).toEqual(["client PutItem", "model PutItem"]);
    expect(call).toEqual({ operation: "PutItem", input: { TableName, Item: Key } });
  });

  it("has executed a request whose response was lost, so the SDK's repetition meets it", async () => {
    const { model, TableName } = await modelWithTable();
    let losses = 1;
    const client = new DynamoDBClient(
      model.clientConfig({
        intercept: async (_call, run) => {
          const answer = await run();
          if (losses-- > 0)
            throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET", name: "ECONNRESET" });
          return answer;
        },
      }),
    );
    const input = { TableName, Item: Key, ConditionExpression: "attribute_not_exists(pk)" };

    await refused(client.send(new PutItemCommand(input)), "ConditionalCheckFailedException");

    expect(await model.call("GetItem", { TableName, Key })).toEqual({ Item: Key });
  });

  it("does nothing for a request that is refused before it", async () => {
    const { model, TableName } = await modelWithTable();
    const config = model.clientConfig({
      intercept: () => {
        throw new DynamoDBError("ProvisionedThroughputExceededException", "slow down");
      },
    });
    const client = new DynamoDBClient({ ...config, maxAttempts: 1 });

    await refused(
      client.send(new PutItemCommand({ TableName, Item: Key })),
      "ProvisionedThroughputExceededException",
    );

    expect(await model.call("GetItem", { TableName, Key })).toEqual({});
  });

  it("responds late if the interceptor waits, and leaves a client that gives up", async () => {
    const { clock, model, TableName } = await modelWithTable();
    const client = new DynamoDBClient(model.clientConfig({ intercept: slow(clock) }));
    const abort = new AbortController();
    const given = client.send(new GetItemCommand({ TableName, Key }), { abortSignal: abort.signal });
    const waiting = client.send(new GetItemCommand({ TableName, Key }));

    abort.abort();

    await expect(given).rejects.toMatchObject({ name: "AbortError" });
    expect((await clock.run(waiting)).Item).toBeUndefined();
  });

  it("gets nothing from a client that had given up before", async () => {
    const { model } = await modelWithTable();
    const calls: string[] = [];
    const handler = model.requestHandler({ intercept: seen(calls, "client") });
    const request = { headers: { "X-Amz-Target": "DynamoDB_20120810.ListTables" }, body: "{}" };

    await expect(handler.handle(request, { abortSignal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(calls).toEqual([]);
  });
});

function slow(clock: FakeClock): Intercept {
  return async (_call, run) => {
    await clock.sleep(1000);
    return run();
  };
}
