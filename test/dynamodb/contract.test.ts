import { beforeAll, describe, inject, it } from "vitest";
import { connect } from "../../kit/tables.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { type StoreSubject, storeContract } from "../../lib/testing/contract/store-contract.ts";
import { contractSubject } from "./contract-given.ts";
import { withCompany } from "./grouped-given.ts";

const SCHEMAS = [
  { title: "its own table", options: {}, key: (pk: string) => ({ pk }) },
  { title: "its own table, through the SDK", options: { direct: false }, key: (pk: string) => ({ pk }) },
  {
    title: "a table with other keys",
    options: {
      partitionKey: "PK",
      sortKey: { name: "SK", value: "IDEMPOTENCY" },
      ttlAttribute: "ttl",
    },
    key: (PK: string) => ({ PK, SK: "IDEMPOTENCY" }),
  },
] as const;

describe.each(inject("dynamodbEngines"))("answers 0 and 20: DynamoDBStore on $name", ({ endpoint }) => {
  const client = connect(endpoint);

  describe.each(SCHEMAS)("in $title", ({ options, key }) => {
    let subject: StoreSubject<DynamoDBWrite>;

    beforeAll(async () => {
      subject = await contractSubject(client, key, options);
    });

    for (const { name, run } of storeContract(() => subject)) it(name, run);

    describe("in groups", () => {
      for (const { name, run } of storeContract(() => withCompany(subject))) it(name, run);
    });
  });
});
