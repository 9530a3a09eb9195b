import { describe, inject, it } from "vitest";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { FORKS } from "../core/plays/forks.ts";
import { connect, createTable } from "../kit/tables.ts";

describe("R8: a fork on DynamoDBStore", () => {
  it.each(FORKS)("$name", async ({ check }) => {
    const client = connect(inject("dynamodbEngines")[0]!.endpoint);
    await check(new DynamoDBStore({ tableName: await createTable(client), client }));
  });
});
