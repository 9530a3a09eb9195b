import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Settlement } from "../../lib/core/store.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { isThroughSdk, jsonOf, type RecordedRequest, recordRequests } from "./requests-world.ts";

const NOW = 1_900_000_000_000;
const ARN = "arn:aws:dynamodb:eu-central-1:123456789012:table/records";

const ACCOUNT = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret", accountId: "210987654321" };

const CONFIGS: Record<string, DynamoDBClientConfig> = {
  "a Region": {},
  "another partition": { region: "cn-north-1" },
  FIPS: { region: "us-east-1", useFipsEndpoint: true },
  "dual stack": { useDualstackEndpoint: true },
  "FIPS and dual stack": { region: "us-gov-west-1", useFipsEndpoint: true, useDualstackEndpoint: true },
  "an endpoint of one's own": { endpoint: "http://127.0.0.1:8000" },
  "an endpoint with a path": { endpoint: "https://gateway.example.com/databases/dynamodb" },
  "an endpoint that is found when it is needed": {
    endpoint: async () => ({ protocol: "https:", hostname: "[::1]", port: 4566, path: "/" }),
  },
  "the Region of an engine on this machine": { region: "local" },
  "the endpoint of an account": { credentials: ACCOUNT },
  "an account without an endpoint of its own": { credentials: ACCOUNT, accountIdEndpointMode: "disabled" },
  "credentials that do not expire": { credentials: { accessKeyId: "AKID", secretAccessKey: "s" } },
  "an application that has a name": { userAgentAppId: "shop", customUserAgent: "shop/1.0" },
};

const write: DynamoDBWrite = {
  Put: { TableName: "orders", Item: { id: "1", bytes: new Uint8Array([0, 255, 7]), tags: new Set(["a"]) } },
};

const settlement: Settlement<DynamoDBWrite> = {
  recordKey: "op##hash",
  token: "mine",
  now: NOW,
  state: "completed",
  result: '{"ü":1}',
  expiresAt: 1_900_000_100,
  writes: [],
  messages: [],
};

async function sentBy(config: DynamoDBClientConfig, tableName: string, direct: boolean) {
  const { client, requests } = recordRequests(config);
  const store = new DynamoDBStore({ tableName, client, direct });
  await store.claim({
    recordKey: "op##hash",
    token: "mine",
    fingerprint: "f",
    attempt: 1,
    createdAt: NOW,
    now: NOW,
    leaseEndsAt: NOW + 1000,
    expiresAt: 1_900_000_100,
    keepsSteps: false,
  } as never);
  await store.settle(settlement);
  await store.settle({ ...settlement, writes: [write], result: "x".repeat(20_000) });
  await store.find("op##hash", { consistent: true });
  return requests;
}

function outlineOf(request: RecordedRequest) {
  const { protocol, hostname, port, path, method, headers } = request;
  const { host, authorization, ...rest } = headers;
  const scope = /Credential=([^,]+),/.exec(`${authorization}`)?.[1];
  return {
    ...{ protocol, hostname, port, path, method, host, scope },
    target: rest["x-amz-target"],
    type: rest["content-type"],
    length: rest["content-length"],
    token: rest["x-amz-security-token"],
    date: rest["x-amz-date"],
    tries: rest["amz-sdk-request"],
    input: jsonOf(request),
  };
}

describe("DynamoDBStore, past the middleware of the SDK", () => {
  afterEach(() => vi.useRealTimers());

  it.each(Object.entries(CONFIGS))(
    "sends what the SDK sends, to the same place, with %s",
    async (_, config) => {
      vi.useFakeTimers({ now: NOW, toFake: ["Date"] });
      for (const tableName of ["records", ARN]) {
        const through = await sentBy(config, tableName, false);
        const direct = await sentBy(config, tableName, true);

        expect(through.every(isThroughSdk)).toBe(true);
        expect(direct.some(isThroughSdk)).toBe(false);
        expect(direct.map(outlineOf)).toEqual(through.map(outlineOf));
      }
    },
  );

  it("says who it is as the SDK does, but for the features that are counted in each request", async () => {
    const config = CONFIGS["an application that has a name"]!;
    const [through] = await sentBy(config, "records", false);
    const [direct] = await sentBy(config, "records", true);

    const partsOf = (request?: RecordedRequest) => `${request?.headers["user-agent"]}`.split(" ");
    expect(partsOf(direct).sort()).toEqual(
      partsOf(through)
        .filter((part) => !part.startsWith("m/"))
        .sort(),
    );
  });

  it("finds the endpoint that the environment names, unless the client is told not to", async () => {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = "http://127.0.0.1:4566";
    const [named] = await sentBy({}, "records", true);
    const [ignored] = await sentBy({ ignoreConfiguredEndpointUrls: true } as object, "records", true);
    delete process.env.AWS_ENDPOINT_URL_DYNAMODB;

    expect([named?.hostname, named?.port]).toEqual(["127.0.0.1", 4566]);
    expect(ignored?.hostname).toBe("dynamodb.eu-central-1.amazonaws.com");
    expect([named, ignored].some((request) => isThroughSdk(request!))).toBe(false);
  });

  it("asks for credentials before each request, so that rotated ones sign", async () => {
    let asked = 0;
    const credentials = async () => ({
      accessKeyId: `AKID${asked++}`,
      secretAccessKey: "s",
      // Close enough to be asked for again.
      expiration: new Date(Date.now() + 60_000),
    });

    const requests = await sentBy({ credentials }, "records", true);

    const keys = requests.map(({ headers }) => /Credential=(\w+)/.exec(`${headers.authorization}`)?.[1]);
    expect(new Set(keys).size).toBe(requests.length);
  });

  it("sends through the SDK where an endpoint has headers of its own", async () => {
    const endpoint = { url: new URL("https://gateway.example.com/"), headers: { "x-gateway": ["1"] } };

    const requests = await sentBy({ endpoint: endpoint as never }, "records", true);

    expect(requests.every(isThroughSdk)).toBe(true);
  });

  it("takes a missing Region, and credentials that are not there, for mistakes", async () => {
    vi.stubEnv("AWS_REGION", undefined);
    vi.stubEnv("AWS_DEFAULT_REGION", undefined);
    const noRegion = sentBy({ region: undefined as never }, "records", true);
    await expect(noRegion).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", failure: "refused" });
    vi.unstubAllEnvs();
    const refuse = Object.assign(new Error("none"), { name: "CredentialsProviderError" });
    const none = sentBy({ credentials: () => Promise.reject(refuse) }, "records", true);

    await expect(none).rejects.toMatchObject({ failure: "refused", cause: refuse });
  });
});
