import { randomUUID } from "node:crypto";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { runOnce } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { dynamoItemExists } from "onceonly/reconciler";
import { fakeClock } from "onceonly/testing";
import { describe, expect, inject, it } from "vitest";
import { connect, createTable } from "../../kit/tables.ts";
import { questionAfter } from "./given.ts";

describe.each(inject("dynamodbEngines"))("dynamoItemExists on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  const document = DynamoDBDocument.from(client);
  const verifierOf = (tableName: string) =>
    dynamoItemExists<{ orderId: string }>({
      client: document,
      tableName,
      key: ({ input }) => ({ pk: `order-${input.orderId}` }),
      result: ({ total }, { key }) => ({ key, total }),
    });

  it("H42: an existing item happened, and its result is built from it; a missing one did not", async () => {
    const tableName = await createTable(client);
    const verify = verifierOf(tableName);
    const question = questionAfter(0, { orderId: randomUUID() });

    expect(await verify(question)).toEqual({
      outcome: "did-not-happen",
      evidence: { asked: `GetItem on ${tableName}`, answered: "no item" },
    });
    await document.put({ TableName: tableName, Item: { pk: `order-${question.input.orderId}`, total: 12 } });

    expect(await verify(question)).toEqual({
      outcome: "happened",
      result: { key: "order-7", total: 12 },
      evidence: { asked: `GetItem on ${tableName}`, answered: "the item" },
    });
  });

  it("H42: a handler that dies after its write is answered for, and never writes again", async () => {
    const tableName = await createTable(client);
    const clock = fakeClock(Date.now());
    const orderId = randomUUID();
    let writes = 0;
    const options = {
      operation: "order",
      store: new DynamoDBStore({ tableName, client }),
      leaseSeconds: 30,
      renewLease: false,
      clock,
      whenAbandoned: dynamoItemExists({
        client: document,
        tableName,
        key: ({ input }) => ({ pk: `order-${(input as { orderId: string }).orderId}` }),
        result: ({ total }) => ({ total: Number(total) }),
      }),
    };
    const order = async () => {
      writes++;
      const Item = { pk: { S: `order-${orderId}` }, total: { N: "12" } };
      await client.send(new PutItemCommand({ TableName: tableName, Item }));
      return new Promise<{ total: number }>(() => {});
    };
    void runOnce(options, orderId, { orderId }, order);
    while (!(await document.get({ TableName: tableName, Key: { pk: `order-${orderId}` } })).Item);
    await clock.advance(36_000);

    expect(await runOnce(options, orderId, { orderId }, order)).toEqual({ total: 12 });
    expect(writes).toBe(1);
  });

  it("leaves an error of DynamoDB to its caller, and refuses options that cannot work", async () => {
    await expect(verifierOf("missing-table")(questionAfter(0, { orderId: "1" }))).rejects.toThrow();
    expect(() => verifierOf(undefined as unknown as string)).toThrow("`tableName` must be");
  });
});
