// Handlers that use SSM, Secrets Manager, S3 and SES, by the SDK's own client or by requests of the same shape.
import "../../../../test/kit/shop/environment.ts";
import { Readable } from "node:stream";
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { idempotent } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { describe, expect, it } from "vitest";
import { explore } from "../../lib/explorer/explore.ts";
import { exactlyOnceMatchers } from "../../lib/explorer/matchers.ts";
import type { LambdaHandler } from "../../lib/simulator/simulated-function.ts";

expect.extend(exactlyOnceMatchers);

const scope = (service: string, region = "us-east-1") =>
  `AWS4-HMAC-SHA256 Credential=KEY/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=0`;

/** A request as the SDK's client for a service with AWS's JSON protocol sends it. */
async function askAws(host: string, service: string, target: string, input: object, region?: string) {
  const headers = { authorization: scope(service, region), "x-amz-target": target };
  const answer = await fetch(`https://${host}/`, { method: "POST", headers, body: JSON.stringify(input) });
  const output = (await answer.json()) as Record<string, Record<string, string> & string>;
  if (!answer.ok) throw Object.assign(new Error(output.message), { name: output.__type });
  return output;
}
const getParameter = (Name: string, region = "us-east-1") =>
  askAws(`ssm.${region}.amazonaws.com`, "ssm", "AmazonSSM.GetParameter", { Name }, region);
const getSecret = (SecretId: string) =>
  askAws("secrets.internal", "secretsmanager", "secretsmanager.GetSecretValue", { SecretId });
const sendEmail = (subject: string) =>
  fetch("https://email.us-east-1.amazonaws.com/v2/email/outbound-emails", {
    method: "POST",
    headers: { authorization: scope("ses") },
    body: JSON.stringify({ Content: { Simple: { Subject: { Data: subject } } } }),
  });
const shop = { idempotencyTable: "idempotency", timeoutSeconds: 6 };
const settings = {
  operation: "invoice",
  store: new DynamoDBStore({ tableName: "idempotency" }),
  key: ({ id }: { id: string }) => id,
};
const s3 = new S3Client({ region: "us-east-1" });
const put = (Key: string, Body: string) => s3.send(new PutObjectCommand({ Bucket: "invoices", Key, Body }));
const buckets = { invoices: { "0.txt": "before" } };

describe("explore, of a handler that", () => {
  it("reads parameters and secrets, in two Regions and with a custom endpoint", async () => {
    const handler: LambdaHandler = async () => {
      const here = await getParameter("/shop/limit");
      const there = await getParameter("/shop/limit", "eu-central-1");
      const arn = "arn:aws:secretsmanager:us-east-1:000000000000:secret:stripe-AbCdEf";
      const secret = await getSecret(arn);
      return [here.Parameter?.Value, there.Parameter?.Value, JSON.parse(secret.SecretString ?? "").key];
    };
    const options = { parameters: { "/shop/limit": "5" }, secrets: { stripe: { key: "sk_test" } } };

    const report = await explore(handler, {}, { ...shop, ...options });

    expect(report).toBeExactlyOnce();
    expect(report.undisturbed).toBe("returned; no effect");
    expect(report.points.map(({ label }) => label)).toEqual([
      "ssm GetParameter /shop/limit",
      "ssm GetParameter /shop/limit",
      "secretsmanager GetSecretValue stripe-AbCdEf",
    ]);
  });

  it("reads from a service of AWS that is served, and writes to it", async () => {
    const ask = (operation: string) =>
      askAws("kms.us-east-1.amazonaws.com", "kms", `TrentService.${operation}`, {});
    const outside = { "https://kms.us-east-1.amazonaws.com": () => Response.json({ Plaintext: "a" }) };
    const reads = await explore(() => ask("Decrypt"), {}, { ...shop, outside });
    const writes = await explore(
      () => ask("CreateKey"),
      {},
      { ...shop, outside, only: "duplicate-afterwards" },
    );

    expect(reads).toBeExactlyOnce();
    expect(writes.findings[0]?.what).toBe(
      "2 calls of CreateKey https://kms.us-east-1.amazonaws.com/ instead of 1",
    );
  });

  it("puts the same object under the same key", async () => {
    const handler = async ({ id }: { id: string }) => {
      await put(`${id}.txt`, "three teas");
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: "invoices", Key: `${id}.txt` }));
      return Body?.transformToString();
    };

    const report = await explore(handler, { id: "1" }, { ...shop, buckets });

    expect(report).toBeExactlyOnce();
    expect(report.undisturbed).toBe("returned; 1 object in invoices");
  });

  it("puts an object under a new key each time", async () => {
    const handler = idempotent(async () => {
      await put(`${crypto.randomUUID()}.txt`, "three teas");
    }, settings);

    const report = await explore(handler, { id: "1" }, { ...shop, buckets, only: "2 crash-after" });

    expect(report.findings[0]).toMatchObject({ what: "3 objects in invoices instead of 2" });
    expect(report.findings[0]?.advice).toContain("name the object after something that stays the same");
  });

  it("uses S3 in either style, with an endpoint, with streams, conditions and copies", async () => {
    const pathStyle = new S3Client({ region: "eu-west-1", forcePathStyle: true });
    const minio = new S3Client({
      region: "eu-west-1",
      forcePathStyle: true,
      endpoint: "https://minio.internal:9000",
    });
    const Bucket = "invoices";
    const handler = async () => {
      const Body = Readable.from([Buffer.from("a "), Buffer.from("stream")]);
      await pathStyle.send(new PutObjectCommand({ Bucket, Key: "s/1 a.txt", Body, ContentLength: 8 }));
      await minio.send(
        new CopyObjectCommand({ Bucket, Key: "copy.txt", CopySource: "invoices/s/1%20a.txt" }),
      );
      const once = { Bucket, Key: "copy.txt", Body: "other", IfNoneMatch: "*" };
      const refused = await s3.send(new PutObjectCommand(once)).catch((error: Error) => error.name);
      const missing = await s3
        .send(new HeadObjectCommand({ Bucket, Key: "none" }))
        .catch((error: Error) => error.name);
      const { Contents } = await minio.send(new ListObjectsV2Command({ Bucket }));
      const copy = await s3.send(new GetObjectCommand({ Bucket, Key: "copy.txt" }));
      return [refused, missing, Contents?.map(({ Key }) => Key), await copy.Body?.transformToString()];
    };

    const report = await explore(
      handler,
      {},
      { ...shop, buckets, maxRuns: 3, name: "all", effects: () => [] },
    );

    expect(report.findings).toEqual([]);
    await expect(
      explore(
        async () => ({ statusCode: 500, all: await handler() }),
        {},
        { ...shop, buckets, source: "invoke" },
      ),
    ).rejects.toThrow('"all":["PreconditionFailed","NotFound",["0.txt","copy.txt","s/1 a.txt"],"a stream"]');
  });

  it("uploads a stream in parts, as the SDK's lib-storage does", async () => {
    const upload = async (Key: string) => {
      const place = { Bucket: "invoices", Key };
      const { UploadId } = await s3.send(new CreateMultipartUploadCommand(place));
      const bodies = ["three ", "teas"].map((text, index) => (index === 0 ? text.padEnd(5_242_880) : text));
      const Parts = await Promise.all(
        bodies.map(async (Body, index) => {
          const part = { ...place, UploadId, PartNumber: index + 1, Body };
          const { ETag } = await s3.send(new UploadPartCommand(part));
          return { ETag, PartNumber: index + 1 };
        }),
      );
      await s3.send(new CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload: { Parts } }));
    };
    const once = idempotent(async ({ id }: { id: string }) => void (await upload(`${id}.txt`)), settings);
    const anew = idempotent(async () => void (await upload(`${crypto.randomUUID()}.txt`)), settings);
    const options = { ...shop, buckets };

    const report = await explore(once, { id: "1" }, { ...options, only: "4 crash-after" });
    const whole = await explore(once, { id: "1" }, { ...options, only: "5 lost-answer" });
    const twice = await explore(anew, { id: "1" }, { ...options, only: "5 crash-after" });

    expect(report).toBeExactlyOnce();
    expect(report.points.map(({ label }) => label)).toContain("s3 CompleteMultipartUpload invoices");
    expect(report.undisturbed).toBe("returned; 1 object in invoices");
    expect(whole).toBeExactlyOnce();
    expect(twice.findings[0]).toMatchObject({ what: "3 objects in invoices instead of 2" });
  });

  it("sends an email next to its record, which SES can't deduplicate", async () => {
    const handler = idempotent(async ({ id }: { id: string }) => {
      const answer = await sendEmail(id);
      if (!answer.ok) throw new Error(`SES answered ${answer.status}`);
    }, settings);

    const report = await explore(handler, { id: "1" }, { ...shop, only: "2 crash-after" });
    const accepted = await explore(handler, { id: "1" }, { ...shop, atLeastOnce: ["ses"] });

    expect(report.undisturbed).toBe("returned; 1 call of ses SendEmail");
    expect(report.findings[0]?.what).toBe("2 calls of ses SendEmail instead of 1");
    expect(accepted).toBeExactlyOnce();
  });

  it.each<[string, LambdaHandler, string]>([
    [
      "a parameter",
      () => getParameter("/shop/limit"),
      'add it with `parameters: { "/shop/limit": "a value" }`',
    ],
    ["a secret", () => getSecret("stripe"), 'add it with `secrets: { "stripe": "a value" }`'],
    ["a bucket", () => put("a", "b"), 'add it with `buckets: { "invoices": { "a key": "content" } }`'],
    [
      "another service",
      () => askAws("kms.us-east-1.amazonaws.com", "kms", "TrentService.Decrypt", {}),
      'pass `outside: { "https://kms.us-east-1.amazonaws.com": (request) => new Response() }` to explore',
    ],
    [
      "an operation of S3",
      () => s3.send(new GetObjectTaggingCommand({ Bucket: "invoices", Key: "a" })),
      "S3, SES and Lambda's durable executions, but nothing for invoices.s3.us-east-1.amazonaws.com",
    ],
  ])("lacks %s gets advice with the option", async (_, handler, text) => {
    await expect(explore(handler, {}, shop)).rejects.toThrow(text);
  });

  it("has no record is advised to remember, and not to use a commit that it does not have", async () => {
    const handler = async () => void (await sendEmail("a"));

    const report = await explore(handler, {}, { ...shop, only: "duplicate-afterwards" });

    expect(report.findings[0]?.advice).toBe(
      "nothing records that this was done: send the other system a key derived from the event as its idempotency key; if it doesn't support keys, wrap the handler in idempotent() with `whenAbandoned`, or accept the duplicate with `atLeastOnce`",
    );
  });
});
