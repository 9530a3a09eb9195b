import { afterAll, beforeAll, describe, inject, it } from "vitest";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { DynamoDBOutbox } from "../../lib/lean/dynamodb-outbox.ts";
import { DynamoDBStore } from "../../lib/lean/dynamodb-store.ts";
import { LeanDynamoDB } from "../../lib/lean/lean-dynamodb.ts";
import { type StoreSubject, storeContract } from "../../lib/testing/contract/store-contract.ts";
import { contractSubject } from "../dynamodb/contract-given.ts";
import { connect } from "../kit/tables.ts";

describe.each(inject("everyDynamodbEngine"))("DynamoDBStore without the SDK on $name", ({ endpoint }) => {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new LeanDynamoDB({ endpoint, region: "eu-central-1", credentials });
  let subject: StoreSubject<DynamoDBWrite>;

  beforeAll(async () => {
    const make = (tableName: string) => ({
      store: new DynamoDBStore({ tableName, client }),
      outbox: new DynamoDBOutbox({ tableName, client }),
    });
    subject = await contractSubject(connect(endpoint), (pk) => ({ pk }), {}, make);
  });

  afterAll(() => client.destroy());

  for (const { name, run } of storeContract(() => subject)) it(name, run);
});
