import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CONTENT_TYPE,
  type Credentials,
  signedHeaders,
  type Unsigned,
} from "../../../lib/dynamodb/wire/signature.ts";

/** As the SDK's signer asks for it. */
class Sha256 {
  readonly #digest;
  constructor(secret?: string | Uint8Array) {
    this.#digest = secret === undefined ? createHash("sha256") : createHmac("sha256", secret);
  }
  update(data: string | Uint8Array): void {
    this.#digest.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#digest.digest();
  }
}

async function signedBySdk(request: Unsigned, credentials: Credentials, now: number) {
  const { host, path, region, target, body, service = "dynamodb", contentType = CONTENT_TYPE } = request;
  const signer = new SignatureV4({
    credentials: credentials as { accessKeyId: string; secretAccessKey: string },
    region,
    service,
    sha256: Sha256 as never,
    applyChecksum: false,
  });
  const { headers } = await signer.sign(
    {
      method: "POST",
      protocol: "https:",
      hostname: host,
      path,
      headers: { host, "content-type": contentType, ...(target !== undefined && { "x-amz-target": target }) },
      body,
    },
    { signingDate: new Date(now) },
  );
  return headers;
}

const request: Unsigned = {
  host: "dynamodb.eu-central-1.amazonaws.com",
  path: "/",
  region: "eu-central-1",
  target: "DynamoDB_20120810.PutItem",
  body: '{"TableName":"orders"}',
};
const credentials = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};
const now = Date.UTC(2026, 1, 28, 23, 59, 59, 999);

const text = fc.string({ minLength: 1 });
const pathPart = fc.string({ unit: fc.constantFrom(..."abz019-_.~"), minLength: 1 });

describe("signedHeaders", () => {
  it("signs as the SDK's signer does, whatever is sent by whomever and whenever", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          host: fc.constantFrom("localhost:8000", "[::1]:8000", "dynamodb.us-gov-west-1.amazonaws.com"),
          path: fc
            .array(pathPart)
            .map((parts) => `/${parts.filter((part) => !/^\.+$/.test(part)).join("/")}`),
          region: fc.constantFrom("eu-central-1", "us-gov-west-1", "cn-north-1"),
          target: fc.constantFrom("DynamoDB_20120810.GetItem", "AmazonSQS.SendMessageBatch", undefined),
          service: fc.constantFrom("dynamodb", "sqs", "sns", "events"),
          contentType: fc.constantFrom(CONTENT_TYPE, "application/x-www-form-urlencoded"),
          body: fc.json(),
        }),
        fc.record(
          { accessKeyId: text, secretAccessKey: text, sessionToken: pathPart },
          { requiredKeys: ["accessKeyId", "secretAccessKey"] },
        ),
        fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }),
        async (unsigned, anybody, date) => {
          const headers = signedHeaders(unsigned, anybody, date.getTime());

          expect(headers).toEqual(await signedBySdk(unsigned, anybody, date.getTime()));
        },
      ),
    );
  });

  it("signs by the key of the day, the Region and the credentials at hand", async () => {
    const others: [Unsigned, Credentials, number][] = [
      [request, credentials, now],
      [request, credentials, now + 1],
      [{ ...request, region: "us-east-1" }, credentials, now],
      [request, { ...credentials, secretAccessKey: "rotated" }, now],
      [request, credentials, now],
    ];

    for (const other of others) expect(signedHeaders(...other)).toEqual(await signedBySdk(...other));
  });
});
