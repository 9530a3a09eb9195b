import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Key } from "aws-cdk-lib/aws-kms";
import { IdempotencyTable, ResultBucket, type ResultBucketProps, UseIdempotency } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "./app-given.ts";
import { aFunction } from "./given.ts";

function world(props: ResultBucketProps = {}, retention = Duration.days(1)) {
  const stack = unitStack();
  const results = new ResultBucket(stack, "Results", props);
  const fn = aFunction(stack, "Fn");
  const table = new IdempotencyTable(stack, "Table");
  const use = () =>
    fn.with(new UseIdempotency(table, { operations: ["report"], retention, resultBucket: results }));
  return { stack, results, fn, use };
}

describe("R9: ResultBucket", () => {
  it("is private, encrypted, and keeps objects a day longer than the retention", () => {
    const { stack } = world({ retention: Duration.hours(30) });
    Template.fromStack(stack).hasResource("AWS::S3::Bucket", {
      DeletionPolicy: "Retain",
      Properties: {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
        },
        LifecycleConfiguration: {
          Rules: [
            {
              ExpirationInDays: 3,
              Status: "Enabled",
              AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
            },
          ],
        },
        PublicAccessBlockConfiguration: { BlockPublicAcls: true, RestrictPublicBuckets: true },
        VersioningConfiguration: Match.absent(),
      },
    });
  });

  it("gives the function its name, and the right to write, read and miss objects, with its key", () => {
    const stack = unitStack();
    const encryptionKey = new Key(stack, "Key");
    const results = new ResultBucket(stack, "Results", {
      encryptionKey,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const fn = aFunction(stack, "Fn");
    const table = new IdempotencyTable(stack, "Table");
    fn.with(
      new UseIdempotency(table, {
        operations: ["report"],
        retention: Duration.days(1),
        resultBucket: results,
      }),
    );
    results.grantErasing(aFunction(stack, "Eraser"));

    const template = Template.fromStack(stack);
    template.hasResourceProperties("AWS::Lambda::Function", {
      Environment: { Variables: { IDEMPOTENCY_RESULT_BUCKET: { Ref: Match.anyValue() } } },
    });
    const policies = JSON.stringify(template.findResources("AWS::IAM::Policy"));
    for (const action of [
      "PutObject",
      "GetObject",
      "ListBucket",
      "ListBucketVersions",
      "DeleteObjectVersion",
    ])
      expect(policies).toContain(`"s3:${action}"`);
    // Each deletion names a version.
    expect(policies).not.toContain('"s3:DeleteObject"');
    expect(policies).toContain("s3.*.amazonaws.com");
    template.hasResourceProperties("AWS::S3::Bucket", {
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [
          { BucketKeyEnabled: true, ServerSideEncryptionByDefault: { SSEAlgorithm: "aws:kms" } },
        ],
      },
    });
  });

  it("refuses a function whose records outlive their results", () => {
    const { use } = world({ retention: Duration.days(7) }, Duration.days(8));
    expect(use).toThrow(
      "Test/Fn honours records for 691200 seconds (retention), but the results in Test/Results are kept for 604800: raise `retention` of the ResultBucket",
    );
    expect(world({ retention: Duration.days(7) }, Duration.days(7)).use).not.toThrow();
  });

  it("refuses a function without a retention, whose default depends on its event sources", () => {
    const { fn, results } = world();
    const table = new IdempotencyTable(fn.stack, "Other");
    const without = () =>
      fn.with(new UseIdempotency(table, { operations: ["report"], resultBucket: results }));

    expect(without).toThrow("set `retention` next to `resultBucket`");
  });
});
