// Messages whose bodies are in a bucket: a handler gets them whole, or not at all.
import type { SQSRecord } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { S3ClaimCheck } from "onceonly/messaging";
import { describe, expect, it } from "vitest";
import type { BatchOptions } from "../../../lib/lambda/batch/batch-options.ts";
import { newBucket } from "../../kit/loopback-bucket.ts";
import { contentFor, notification, TOPIC } from "./cases/routes.ts";
import { answered, envelope, givenBatch, returned, sqsRecord } from "./given.ts";

const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/reports";
const REPORT = JSON.stringify({ report: 7 });

async function givenBodies(changes: Partial<BatchOptions<SQSRecord>> = {}) {
  const bucket = await newBucket("bodies");
  const bodies = new S3ClaimCheck({ bucket: "bodies", client: bucket.client, minBytes: 1 });
  const [checked] = await bodies.checkIn([{ queue, key: "report-7", body: REPORT }]);
  bucket.requests.length = 0;
  const { options, context, errors } = givenBatch();
  const seen: SQSRecord[] = [];
  const handler = idempotentBatch((record: SQSRecord) => void seen.push(record), {
    ...options,
    claimCheck: bodies,
    ...changes,
  });
  const run = async (...records: SQSRecord[]) =>
    returned(await answered(handler({ Records: records }, context())));
  const codes = () => errors.map((error) => (error as { code?: string }).code);
  return { ...bucket, run, seen, errors, codes, text: `${checked?.body}` };
}

const inBucket = (id: string, text: string) => sqsRecord(id, text, envelope("report-7"));

describe("idempotentBatch with `claimCheck`", () => {
  it("passes the record with its body to the handler, and reads nothing for completed records", async () => {
    const { run, seen, requests, text } = await givenBodies();

    expect(await run(inBucket("a", text))).toEqual([]);
    expect(await run(inBucket("b", text))).toEqual([]);

    expect(seen).toEqual([{ ...inBucket("a", text), body: REPORT }]);
    expect(requests.map((request) => request.slice(0, 3))).toEqual(["GET"]);
  });

  it("never runs a message whose body is gone: it comes back, and runs once the body exists again", async () => {
    const { run, seen, codes, objects, text } = await givenBodies();
    const [[key]] = [...objects] as [[string, string]];
    objects.delete(key);

    expect(await run(inBucket("a", text))).toEqual(["a"]);
    objects.set(key, "");
    expect(await run(inBucket("a", text))).toEqual(["a"]);
    expect([seen.length, ...codes()]).toEqual([0, "BODY_UNAVAILABLE", "BODY_UNAVAILABLE"]);

    objects.set(key, REPORT);
    expect(await run(inBucket("a", text))).toEqual([]);
    expect(seen).toHaveLength(1);
  });

  it("acknowledges a late copy of a completed record although its body is gone", async () => {
    const { run, seen, objects, text } = await givenBodies();
    await run(inBucket("a", text));
    objects.clear();

    expect(await run(inBucket("b", text))).toEqual([]);
    expect(seen).toHaveLength(1);
  });

  it("without it, a message whose body is in a bucket is returned, in sight", async () => {
    for (const bodies of [undefined]) {
      const { run, seen, errors, text } = await givenBodies({ claimCheck: bodies });

      expect(await run(inBucket("a", text))).toEqual(["a"]);
      expect(seen).toEqual([]);
      expect(`${errors[0]}`).toContain(
        "the body of a message is in a bucket: pass `claimCheck` to idempotentBatch",
      );
    }
  });

  it("H74: one without an envelope, or of another bucket, is returned and not read", async () => {
    const { run, seen, codes, requests, text } = await givenBodies();

    expect(await run(sqsRecord("a", text))).toEqual(["a"]);
    expect(await run(inBucket("b", text.replace("bodies", "payroll")))).toEqual(["b"]);
    expect([seen, requests, codes()]).toEqual([[], [], ["BODY_UNAVAILABLE", "BODY_UNAVAILABLE"]]);
  });

  it("H74: is opened inside a notification if its forwarder is declared, and nowhere else", async () => {
    for (const trustedForwarders of [[TOPIC], undefined]) {
      const key = () => "report-7";
      const { run, seen, codes, text } = await givenBodies({ trustedForwarders, key });
      const body = notification({ message: text, envelopeText: contentFor("report-7") });

      await run(sqsRecord("a", body));

      expect(seen.map((record) => JSON.parse(record.body).Message)).toEqual(
        trustedForwarders ? [REPORT] : [],
      );
      expect(codes()).toEqual(trustedForwarders ? [] : ["IDEMPOTENCY_KEY_INVALID"]);
    }
  });

  it("another body under the same key is refused, and the same one from another send is not", async () => {
    const { run, codes, text } = await givenBodies();
    await run(inBucket("a", text));

    await run(inBucket("b", text.replace(/.{8}"\}\]$/, '01234567"}]')));

    expect(codes()).toEqual(["FINGERPRINT_MISMATCH"]);
  });

  it("leaves the messages of Amazon's extended clients, and all others, to the handler", async () => {
    const theirs = JSON.stringify([
      "software.amazon.payloadoffloading.PayloadS3Pointer",
      { s3BucketName: "bodies", s3Key: "5f2b8d2e-6c8a-4bdb-9d2c-0c9b5b0f2a10" },
    ]);
    const { run, seen } = await givenBodies();

    await run(sqsRecord("a", theirs), sqsRecord("b", "plain"));

    expect(seen.map(({ body }) => body)).toEqual([theirs, "plain"]);
  });

  it("rejects immediately an option that opens nothing", () => {
    const { options } = givenBatch();
    expect(() => idempotentBatch(() => {}, { ...options, claimCheck: {} as never })).toThrow("`claimCheck`");
  });
});
