// Our signer beside the SDK's: the same headers and the same signature for every request, usual or not.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { makeSigner } from "../../lib/dynamodb/own-signer.ts";

const credentials = { accessKeyId: "key", secretAccessKey: "secret" };
const signingDate = new Date("2026-11-27T20:59:12.345Z");

const usual = {
  protocol: "https:",
  hostname: "dynamodb.eu-central-1.amazonaws.com",
  method: "POST",
  path: "/",
  headers: {
    host: "dynamodb.eu-central-1.amazonaws.com",
    "content-type": "application/x-amz-json-1.0",
    "x-amz-target": "DynamoDB_20120810.GetItem",
    "user-agent": "aws-sdk-js",
    "amz-sdk-request": "attempt=1; max=3",
  } as Record<string, string>,
  body: '{"TableName":"ü"}' as unknown,
};

const withHeader = (name: string, value: string) => ({ headers: { ...usual.headers, [name]: value } });

const REQUESTS: Readonly<Record<string, object>> = {
  "the usual one": {},
  "a body of bytes": { body: new TextEncoder().encode("{}") },
  "no body": { body: undefined },
  "a path": { path: "/a%20b/../c/" },
  "a query": { query: { b: "1", a: ["ü", "2"] } },
  "another method": { method: "GET" },
  "a header of a tracer": withHeader(
    "traceparent",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  ),
  "the trace of Lambda": withHeader("x-amzn-trace-id", "Root=1"),
  "a header in capitals": withHeader("X-Gateway", "1"),
  "a header with spaces": withHeader("x-gateway", " a   b\t"),
  "a header that isn't ASCII": withHeader("x-gateway", "ü"),
  "a header without a value": withHeader("x-gateway", undefined as never),
  "an empty header": withHeader("x-gateway", ""),
  "a header of a proxy": withHeader("proxy-authorization", "secret"),
  "a header of a browser": withHeader("sec-fetch-mode", "cors"),
  "a header of the connection": withHeader("connection", "close"),
  "a signature from before": withHeader("authorization", "AWS4-HMAC-SHA256 Credential=old"),
  "a date from before": withHeader("x-amz-date", "20200101T000000Z"),
  "a session token from before": withHeader("x-amz-security-token", "old"),
  "a payload that isn't signed": withHeader("x-amz-content-sha256", "UNSIGNED-PAYLOAD"),
};

const SETTINGS: Readonly<Record<string, object>> = {
  keys: {},
  "a session token": { credentials: { ...credentials, sessionToken: "token" } },
  "an empty session token": { credentials: { ...credentials, sessionToken: "" } },
  "another signing name": { signingName: "dax" },
  "another signing Region": { signingRegion: "us-west-2" },
};

const PLACES = [
  [undefined, {}],
  [{ name: "sigv4", signingName: "dynamodb", signingRegion: "us-east-1" }, {}],
  [undefined, { signingRegion: "us-east-1", signingService: "other" }],
] as const;

describe.each(Object.entries(SETTINGS))("H94: signing with %s", (_, settings) => {
  it.each(Object.entries(REQUESTS))("signs as the SDK does: %s", async (_title, changes) => {
    for (const [authScheme, options] of PLACES) {
      const own: DynamoDBClient = new DynamoDBClient({
        ...{ region: "eu-central-1", credentials, ...settings },
        signer: makeSigner(() => own) as never,
      });
      const plain = new DynamoDBClient({ region: "eu-central-1", credentials, ...settings });
      const { protocol } = plain.config as unknown as { protocol: { getRequestType(): typeof Request } };
      const request = new (protocol.getRequestType())({ ...usual, ...changes } as never);
      const before = structuredClone(request.headers);
      const signed = [];
      for (const { config } of [own, plain]) {
        const signer = (await config.signer(authScheme as never)) as unknown as {
          sign(of: object, by: object): Promise<object>;
        };
        signed.push(await signer.sign(request, { signingDate, ...options }));
      }

      expect(signed[0]).toEqual(signed[1]);
      expect(signed[0]).not.toBe(request);
      expect(request.headers).toEqual(before);
    }
  });
});
