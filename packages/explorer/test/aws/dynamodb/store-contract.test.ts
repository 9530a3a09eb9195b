// The store on the model: what the store relies on in DynamoDB, the model has.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, it } from "vitest";
import type { DynamoDBWrite } from "../../../../../lib/dynamodb/writes.ts";
import { type StoreSubject, storeContract } from "../../../../../lib/testing/contract/store-contract.ts";
import { contractSubject } from "../../../../../test/dynamodb/contract-given.ts";
import { withCompany } from "../../../../../test/dynamodb/grouped-given.ts";
import { DynamoDBModel } from "../../../lib/aws/dynamodb/dynamodb-model.ts";

describe("DynamoDBStore on DynamoDBModel", () => {
  const client = new DynamoDBClient(new DynamoDBModel().clientConfig());
  let subject: StoreSubject<DynamoDBWrite>;

  beforeAll(async () => {
    subject = await contractSubject(client, (pk) => ({ pk }));
  });

  for (const { name, run } of storeContract(() => subject)) it(name, run);

  describe("in groups", () => {
    for (const { name, run } of storeContract(() => withCompany(subject))) it(name, run);
  });
});
