import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { describe, expect, inject, it, vi } from "vitest";
import { InvalidOptionError } from "../../lib/core/errors.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBOutbox } from "../../lib/dynamodb/dynamodb-outbox.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBOutboxOptions, DynamoDBStoreOptions } from "../../lib/dynamodb/options.ts";
import { connect, createTable } from "../kit/tables.ts";

const make = (options: unknown) => () => new DynamoDBStore(options as DynamoDBStoreOptions);

describe("DynamoDBStore's options", () => {
  it("refuses a table name from a variable that is not set, naming the option", () => {
    expect(make({ tableName: process.env.NOT_SET_ANYWHERE })).toThrow(InvalidOptionError);
    expect(make({ tableName: process.env.NOT_SET_ANYWHERE })).toThrow(/`tableName` must be .*got undefined/);
  });

  it("accepts a name or an ARN, and the keys of another table", () => {
    const client = connect("http://127.0.0.1:1");
    const tableName = "arn:aws:dynamodb:eu-central-1:123456789012:table/orders";

    make({ tableName: "records" })();
    make({ tableName, client, partitionKey: "pk", ttlAttribute: "expiresAt" })();
    make({ tableName, partitionKey: "PK", sortKey: { name: "SK", value: "x" }, ttlAttribute: "ttl" })();
    make({ tableName, client: DynamoDBDocumentClient.from(client), partitionKey: undefined })();
  });

  it.each<[string, object]>([
    ["tableName", { tableName: "" }],
    ["tableName", { tableName: 7 }],
    ["client", { client: {} }],
    ["client", { client: null }],
    ["partitionKey", { partitionKey: "" }],
    ["partitionKey", { partitionKey: "token" }],
    ["sortKey", { sortKey: "SK" }],
    ["sortKey", { sortKey: null }],
    ["sortKey", { sortKey: { name: "SK" } }],
    ["sortKey", { sortKey: { name: "state", value: "x" } }],
    ["ttlAttribute", { ttlAttribute: "createdAt" }],
    ["sortKey", { partitionKey: "id", sortKey: { name: "id", value: "x" } }],
    ["ttlAttribute", { partitionKey: "id", ttlAttribute: "id" }],
    ["ttlAttribute", { sortKey: { name: "SK", value: "x" }, ttlAttribute: "SK" }],
    ["sortKey", { sortKey: { name: "pk", value: "x" } }],
    ["ttlAttribute", { ttlAttribute: "pk" }],
    ["partitionKey", { partitionKey: "expiresAt" }],
    ["table", { table: "records" }],
  ])("refuses a wrong %s", (option, options) => {
    expect(make({ tableName: "records", ...options })).toThrow(InvalidOptionError);
    expect(make({ tableName: "records", ...options })).toThrow(`\`${option}\``);
    const outbox = () => new DynamoDBOutbox({ tableName: "records", ...options } as DynamoDBOutboxOptions);
    expect(outbox).toThrow(`\`${option}\``);
  });

  it.each(["", "None", "0", "8.5", "1e3", " 8", "1001", "true", 8, null, {}, { shards: "8" }])(
    "refuses an outbox that is neither there nor not: %j",
    (outbox) => {
      expect(make({ tableName: "records", outbox })).toThrow(/`outbox` must be true, false, "none", or/);
    },
  );

  it("creates a client that gives up a silent database after 3 seconds", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as { port: number };
    const environment = {
      AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${port}`,
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      AWS_MAX_ATTEMPTS: "1",
    };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const startedAt = Date.now();

    const failure = await make({ tableName: "records" })()
      .find("key", { consistent: true })
      .catch((error) => error);

    vi.unstubAllEnvs();
    silent.close();
    expect(failure).toMatchObject({ failure: "unreachable", cause: { name: "TimeoutError" } });
    expect(Date.now() - startedAt).toBeGreaterThan(2500);
    expect(Date.now() - startedAt).toBeLessThan(6000);
  });

  it.each(inject("dynamodbEngines"))("works through a document client on $name", async ({ endpoint }) => {
    const client: DynamoDBClient = connect(endpoint);
    const [tableName, orders] = await Promise.all([createTable(client), createTable(client, "id")]);
    const document = DynamoDBDocumentClient.from(client, { marshallOptions: { convertEmptyValues: true } });
    const options = {
      operation: "op",
      store: new DynamoDBStore({ tableName, client: document }),
      leaseSeconds: 30,
    };
    const key = randomUUID();
    const work = () =>
      runOnce(options, key, {}, (execution) =>
        execution.commit(
          { text: "" },
          { writes: [{ Put: { TableName: orders, Item: { id: key, text: "" } } }] },
        ),
      );

    expect(await work()).toEqual({ text: "" });
    expect(await work()).toEqual({ text: "" });
  });
});
