import { s3ObjectExists } from "onceonly/reconciler";
import { describe, expect, it } from "vitest";
import { newBucket } from "../../kit/loopback-bucket.ts";
import { questionAfter } from "./given.ts";

describe("s3ObjectExists", () => {
  it("H42: an object that is there happened, and one that is not did not happen", async () => {
    const bucket = await newBucket("invoices");
    const verify = s3ObjectExists<string>({
      client: bucket.client,
      bucket: "invoices",
      key: ({ input }) => `invoice-${input}.pdf`,
      result: ({ ContentLength }, { key }) => ({ key, bytes: ContentLength }),
    });
    const evidence = { asked: "HeadObject in invoices" };

    expect(await verify(questionAfter(0, "7"))).toEqual({
      outcome: "did-not-happen",
      evidence: { ...evidence, answered: "404" },
    });
    bucket.objects.set("invoice-7.pdf", "content");

    expect(await verify(questionAfter(0, "7"))).toMatchObject({
      outcome: "happened",
      result: { key: "order-7" },
      evidence: { ...evidence, answered: "200" },
    });
    expect(bucket.requests).toEqual(["HEAD invoice-7.pdf", "HEAD invoice-7.pdf"]);
  });

  it("H42: a bucket that refuses to answer leaves the outcome unknown", async () => {
    const bucket = await newBucket("invoices");
    bucket.refuse(403, "AccessDenied");
    const options = { client: bucket.client, bucket: "invoices", key: () => "a", result: () => 1 };

    await expect(s3ObjectExists(options)(questionAfter(0, {}))).rejects.toThrow();
    expect(() => s3ObjectExists({ ...options, bucket: undefined })).toThrow("`bucket` must be");
  });
});
