import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { cached } from "../../lib/stores/cached.ts";
import { type StoreSubject, storeContract } from "../../lib/testing/contract/store-contract.ts";
import { countRequests } from "../kit/counting-client.ts";
import { connect, createTable } from "../kit/tables.ts";
import { contractSubject } from "./contract-given.ts";

describe.each(inject("dynamodbEngines"))("cached(DynamoDBStore) on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let subject: StoreSubject<DynamoDBWrite>;
  let store: DynamoDBStore;
  let counts: ReturnType<typeof countRequests>;

  beforeAll(async () => {
    const given = await contractSubject(client, (pk) => ({ pk }), {});
    subject = { ...given, store: cached(given.store) };
    store = new DynamoDBStore({ tableName: await createTable(client), client });
    counts = countRequests(client);
  });

  for (const { name, run } of storeContract(() => subject)) it(name, run);

  it("H57: 64 simultaneous replays cost 1 request, those of the next seconds none", async () => {
    const options = { operation: "pay", store: cached(store), leaseSeconds: 30 };
    const key = randomUUID();
    await runOnce(options, key, {}, () => "done");
    const replays = () =>
      Promise.all(Array.from({ length: 64 }, () => runOnce(options, key, {}, () => expect.unreachable())));
    counts.reset();

    expect(new Set(await replays())).toEqual(new Set(["done"]));
    expect(counts.commands).toEqual(["PutItem"]);
    expect(new Set(await replays())).toEqual(new Set(["done"]));

    expect(counts.commands).toEqual(["PutItem"]);
  });
});
