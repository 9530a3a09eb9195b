import { beforeAll, describe, inject, it } from "vitest";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { type StoreSubject, storeContract } from "../../lib/testing/contract/store-contract.ts";
import { connect } from "../kit/tables.ts";
import { isFull } from "../setup/tier.ts";
import { contractSubject } from "./contract-given.ts";
import { withCompany } from "./grouped-given.ts";

const SCHEMAS = [
  { title: "its own table", options: {}, key: (pk: string) => ({ pk }) },
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

describe.each(inject("everyDynamodbEngine"))(
  "answers 0 and 20: DynamoDBStore on $name",
  ({ name, endpoint }) => {
    const client = connect(endpoint);
    // Only the store's own code differs between the schemas: the short form asks one engine for all of them.
    const isAskedForAll = isFull || inject("dynamodbEngines").some((engine) => engine.name === name);

    describe.each(isAskedForAll ? SCHEMAS : SCHEMAS.slice(0, 1))("in $title", ({ options, key }) => {
      let subject: StoreSubject<DynamoDBWrite>;

      beforeAll(async () => {
        subject = await contractSubject(client, key, options);
      });

      for (const { name, run } of storeContract(() => subject)) it(name, run);

      // A batch's groups know nothing of the names of keys: the short form asks one table for them.
      if (isFull || (isAskedForAll && key === SCHEMAS[0].key)) {
        describe("in groups", () => {
          for (const { name, run } of storeContract(() => withCompany(subject))) it(name, run);
        });
      }
    });
  },
);
