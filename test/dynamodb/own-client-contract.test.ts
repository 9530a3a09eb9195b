// The store contract over the client that the store makes itself, on each version of the SDK that it supports.
import { afterAll, beforeAll, describe, inject, it, vi } from "vitest";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { type StoreSubject, storeContract } from "../../lib/testing/contract/store-contract.ts";
import { connect, environmentFor } from "../kit/tables.ts";
import { SDKS } from "./clients-world.ts";
import { contractSubject } from "./contract-given.ts";

describe.each(inject("dynamodbEngines"))("H94: the store's own client on $name", ({ endpoint }) => {
  beforeAll(() => {
    for (const [name, value] of Object.entries(environmentFor(endpoint))) vi.stubEnv(name, value);
  });

  afterAll(() => void vi.unstubAllEnvs());

  describe.each(SDKS)("of %s", (sdk) => {
    let subject: StoreSubject<DynamoDBWrite>;

    beforeAll(async () => {
      vi.resetModules();
      vi.doMock("@aws-sdk/client-dynamodb", () => import(sdk));
      const { DynamoDBStore } = await import("../../lib/dynamodb/dynamodb-store.ts");
      const { DynamoDBOutbox } = await import("../../lib/dynamodb/dynamodb-outbox.ts");
      vi.doUnmock("@aws-sdk/client-dynamodb");
      subject = await contractSubject(
        connect(endpoint),
        (pk) => ({ pk }),
        {},
        (tableName) => ({
          store: new DynamoDBStore({ tableName }),
          outbox: new DynamoDBOutbox({ tableName }),
        }),
      );
    });

    for (const { name, run } of storeContract(() => subject)) it(name, run);
  });
});
