import { randomUUID } from "node:crypto";
import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { connect, createTable } from "../kit/tables.ts";
import { claimOf, NOW } from "./given.ts";

describe.each(inject("dynamodbEngines"))(
  "DynamoDBStore on $name, if a record holds more than it should",
  ({ endpoint }) => {
    const client = connect(endpoint);
    let TableName: string;
    let store: DynamoDBStore;

    beforeAll(async () => {
      TableName = await createTable(client);
      store = new DynamoDBStore({ tableName: TableName, client });
    });

    const getItem = async (pk: string) =>
      (await client.send(new GetItemCommand({ TableName, Key: marshall({ pk }), ConsistentRead: true })))
        .Item;

    it.each(["insert", "settle"] as const)(
      "%s leaves nothing of a result that was there before",
      async (method) => {
        const recordKey = identify("op", "", randomUUID()).recordKey;
        const claim = claimOf("first", { recordKey });
        const finish = {
          ...claim,
          now: NOW,
          state: "completed",
          result: "1",
          writes: [],
          messages: [],
        } as const;
        await store.claim(claim);
        await store.settle({ ...finish, state: "released" });
        const leftovers = {
          resultItem: `${recordKey}#a`,
          resultBytes: 1,
          steps: { charge: { state: "done", attempt: 1, at: 1 } },
        };
        const Item = { ...(await getItem(recordKey)), ...marshall(leftovers) };
        await client.send(new PutItemCommand({ TableName, Item }));
        const second = { token: "second", result: undefined };
        const seen = await store.find(recordKey, { consistent: true });

        if (method === "settle") await store.claim({ ...claim, ...second }, seen);
        const answer = await store[method]({ ...finish, ...second }, seen);

        expect(answer).toEqual({ settled: true });
        const item = (await getItem(recordKey)) ?? {};
        for (const name of ["result", "resultItem", "resultBytes"]) expect(item).not.toHaveProperty(name);
        expect(item).not.toHaveProperty("steps");
      },
    );
  },
);
