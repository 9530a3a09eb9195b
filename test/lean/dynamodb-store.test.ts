import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { DynamoDBOutbox, DynamoDBStore } from "../../lib/dynamodb/index.ts";
import {
  LeanDynamoDB,
  DynamoDBOutbox as LeanDynamoDBOutbox,
  DynamoDBStore as LeanDynamoDBStore,
} from "../../lib/lean/index.ts";

const tableName = "records";

describe.each([
  { Lean: LeanDynamoDBStore, WithSdk: DynamoDBStore },
  { Lean: LeanDynamoDBOutbox, WithSdk: DynamoDBOutbox },
])("$Lean.name", ({ Lean, WithSdk }) => {
  it("of onceonly/lean refuses the SDK's clients, and that of onceonly the lean one", () => {
    const sdkClient = new DynamoDBClient({ region: "eu-central-1" });

    expect(() => new Lean({ tableName, client: sdkClient as never })).toThrow("must be a LeanDynamoDB");
    expect(() => new Lean({ tableName, client: new LeanDynamoDB() })).not.toThrow();
    expect(() => new WithSdk({ tableName, client: new LeanDynamoDB() as never })).toThrow('"onceonly/lean"');
  });

  it("of onceonly/lean checks its other options as that of onceonly", () => {
    for (const wrong of [
      { tableName: undefined },
      { tableName, sortkey: "sk" },
      { tableName, client: null },
    ]) {
      expect(() => new Lean(wrong as never)).toThrow(/`(tableName|sortkey|client)`/);
    }
  });
});

describe("a store without a Region or credentials", () => {
  it.each([
    [{}, "RegionMissingError"],
    [{ region: "eu-central-1", credentials: async () => ({}) as never }, "CredentialsProviderError"],
  ])("with the client's options %j reports it, before any request", async (options, cause) => {
    const store = new LeanDynamoDBStore({ tableName, client: new LeanDynamoDB(options) });

    const finding = store.find("key", { consistent: true });

    await expect(finding).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      failure: "refused",
      cause: expect.objectContaining({ name: cause }),
    });
  });
});
