// Nothing of a record outlives the call that read it: every answer is the table's, however long a process lives.
import { randomUUID } from "node:crypto";
import { DeleteItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { runOnce } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { fakeClock } from "onceonly/testing";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { countRequests } from "../kit/counting-client.ts";
import { connect, createTable } from "../kit/tables.ts";

describe.each(inject("dynamodbEngines"))("runOnce on $name, in one process", ({ endpoint }) => {
  const client = connect(endpoint);
  const clock = fakeClock();
  let tableName: string;
  let store: DynamoDBStore;

  beforeAll(async () => {
    tableName = await createTable(client);
    store = new DynamoDBStore({ tableName, client });
  });

  /** An operation whose work counts its runs, and its record as an operator would name it. */
  function given(scope: string, key = randomUUID()) {
    let runs = 0;
    const options = { operation: "pay", store, clock, scope, leaseSeconds: 30 };
    const Key = { pk: { S: identify("pay", scope, key).recordKey } };
    return {
      key,
      call: () => runOnce(options, key, {}, () => `${scope} ${++runs}`),
      remove: () => client.send(new DeleteItemCommand({ TableName: tableName, Key })),
      rewrite: (result: string) =>
        client.send(
          new UpdateItemCommand({
            TableName: tableName,
            Key,
            UpdateExpression: "SET #result = :result",
            ExpressionAttributeNames: { "#result": "result" },
            ExpressionAttributeValues: { ":result": { S: JSON.stringify(result) } },
          }),
        ),
    };
  }

  it("H45: a record that is deleted by hand is gone for the next call", async () => {
    const { call, remove } = given("ann");
    expect([await call(), await call()]).toEqual(["ann 1", "ann 1"]);

    await remove();

    expect([await call(), await call()]).toEqual(["ann 2", "ann 2"]);
  });

  it("H45: the next call gets a result that was changed by hand", async () => {
    const { call, rewrite } = given("ann");
    await call();
    await call();

    await rewrite("ann, corrected");

    expect(await call()).toBe("ann, corrected");
  });

  it("H45: one tenant's answer never goes to another tenant", async () => {
    const ann = given("ann");
    const bob = given("bob", ann.key);

    const answers = [await ann.call(), await bob.call(), await ann.call(), await bob.call()];

    expect(answers).toEqual(["ann 1", "bob 1", "ann 1", "bob 1"]);
  });

  it("H45: each replay asks the table", async () => {
    const { call } = given("ann");
    await call();
    const counts = countRequests(client);

    await call();
    await call();

    expect(counts.commands).toEqual(["PutItem", "PutItem"]);
  });
});
