// The nests of docs/guides/migrate-from-powertools.md and docs/reference/powertools.md, run: what one version did, the other replays.
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateTableCommand, DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import middy from "@middy/core";
import { build } from "esbuild";
import { fakeLambdaContext } from "onceonly/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from "vitest";
import { typescriptFences } from "../kit/fences.ts";
import { root } from "../kit/project.ts";

type Version = (event: { orderId: string; cents: number }, context: object) => Promise<unknown>;
type Versions = Readonly<Record<"previous" | "nested" | "handler", Version>>;
interface Api {
  /** The middleware that was there alone. */
  readonly previous: Parameters<ReturnType<typeof middy>["use"]>[0];
  readonly handler: (event: object, context: object) => Promise<object>;
}

const region = "us-east-1";
const credentials = { accessKeyId: "migration", secretAccessKey: "migration" };
const wrappers = fenceIn("docs/guides/migrate-from-powertools.md", "export const nested");
const middlewares = fenceIn("docs/reference/powertools.md", "httpIdempotency(");

describe.each(inject("dynamodbEngines"))("the nests on $name", ({ endpoint }) => {
  const client = new DynamoDBClient({ endpoint, region, credentials });
  const tables = {
    POWERTOOLS_TABLE: `previous-${randomUUID()}`,
    IDEMPOTENCY_TABLE: `records-${randomUUID()}`,
  };
  let folder: string;
  let versions: Versions;
  let api: Api;
  let event: { orderId: string; cents: number };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "migration-"));
    await Promise.all([
      createTable(client, tables.POWERTOOLS_TABLE, "id"),
      createTable(client, tables.IDEMPOTENCY_TABLE, "pk"),
    ]);
    const environment = {
      ...tables,
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_LAMBDA_FUNCTION_NAME: "charge-order",
      // Powertools sets it as it is loaded.
      AWS_SDK_UA_APP_ID: "",
    };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    versions = await load<Versions>(wrappers!.code, join(folder, "wrappers.cjs"));
    api = await load<Api>(middlewares!.code, join(folder, "middlewares.cjs"));
  });

  afterAll(async () => {
    vi.unstubAllEnvs();
    client.destroy();
    await rm(folder, { recursive: true, force: true });
  });

  beforeEach(() => {
    event = { orderId: randomUUID(), cents: 500 };
  });

  it("replays what the previous version did, also after the nest is gone", async () => {
    const first = await call("previous");

    expect(first).toMatchObject(event);
    expect(await call("nested")).toEqual(first);
    expect(await call("handler")).toEqual(first);
  });

  it("leaves what the previous version replays, so that it can be rolled back", async () => {
    const first = await call("nested");

    expect(await call("previous")).toEqual(first);
    expect(await call("handler")).toEqual(first);
  });

  it("runs again without the nest what only the previous version did", async () => {
    const first = await call("previous");

    expect(await call("handler")).not.toEqual(first);
  });

  it("refuses another payload under a known key in every version", async () => {
    await call("nested");
    event = { ...event, cents: 501 };

    await expect(call("previous")).rejects.toMatchObject({ name: "IdempotencyValidationError" });
    await expect(call("nested")).rejects.toMatchObject({ code: "FINGERPRINT_MISMATCH" });
    await expect(call("handler")).rejects.toMatchObject({ code: "FINGERPRINT_MISMATCH" });
  });

  it("writes records with the attributes that the document lists", async () => {
    await call("nested");

    expect(Object.keys(await recordOf(tables.POWERTOOLS_TABLE))).toEqual(
      expect.arrayContaining(["data", "expiration", "id", "in_progress_expiration", "status", "validation"]),
    );
    expect(Object.keys(await recordOf(tables.IDEMPOTENCY_TABLE))).toEqual(
      expect.arrayContaining([
        "attempt",
        "expiresAt",
        "fingerprint",
        "leaseEndsAt",
        "pk",
        "result",
        "state",
        "token",
      ]),
    );
  });

  it("replays by two middlewares what the previous one did", async () => {
    const request = httpRequest(event.orderId);
    const before = middy(async () => ({ statusCode: 201, body: "made before" })).use(api.previous);

    await before(request, lambdaContext());
    const copied = await api.handler(request, lambdaContext());
    const replayed = await api.handler(request, lambdaContext());

    expect(copied).toMatchObject({ statusCode: 201, body: "made before" });
    expect(replayed).toMatchObject({ body: "made before", headers: { "Idempotent-Replayed": "true" } });
  });

  function call(version: keyof Versions): Promise<unknown> {
    return versions[version](event, lambdaContext());
  }

  /** Any record: they are all of one kind. */
  async function recordOf(TableName: string): Promise<Record<string, unknown>> {
    const { Items = [] } = await client.send(new ScanCommand({ TableName, Limit: 1 }));
    return unmarshall(Items[0]!);
  }
});

function fenceIn(page: string, code: string) {
  return typescriptFences(page).find((fence) => fence.code.includes(code));
}

function lambdaContext() {
  return fakeLambdaContext({ clock: { now: Date.now } });
}

function httpRequest(key: string) {
  return {
    version: "2.0",
    rawPath: "/orders",
    rawQueryString: "",
    headers: { "idempotency-key": key },
    requestContext: {
      http: { method: "POST", path: "/orders" },
      authorizer: { jwt: { claims: { sub: "ada" } } },
    },
    body: "{}",
    isBase64Encoded: false,
  };
}

/** With all that it imports, onceonly from its sources. */
async function load<Exports>(code: string, outfile: string): Promise<Exports> {
  await build({
    stdin: { contents: code, resolveDir: root, sourcefile: "fence.ts", loader: "ts" },
    absWorkingDir: root,
    bundle: true,
    format: "cjs",
    platform: "node",
    outfile,
    logLevel: "silent",
  });
  return createRequire(import.meta.url)(outfile);
}

async function createTable(client: DynamoDBClient, name: string, key: string): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [{ AttributeName: key, AttributeType: "S" }],
      KeySchema: [{ AttributeName: key, KeyType: "HASH" }],
    }),
  );
}
