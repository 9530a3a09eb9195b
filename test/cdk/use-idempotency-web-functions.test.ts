// UseIdempotency on Lambda Web Functions, which have their variables in a revision and their callers at endpoints.
import { Duration, type Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import {
  type CfnWebFunctionRevision,
  WebFunction,
  WebFunctionAuthType,
  WebFunctionCode,
  WebFunctionEndpointLocation,
  type WebFunctionProps,
  WebFunctionRuntime,
} from "aws-cdk-lib/aws-lambda";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { IdempotencyTable, ResultBucket, UseIdempotency, type UseIdempotencyOptions } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { rightsOf, runsOperationsOn } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";
import { faultsOf } from "./given.ts";

const REVISION = "AWS::Lambda::WebFunctionRevision";

const aWebFunction = (stack: Stack, props: Partial<WebFunctionProps> = {}) =>
  new WebFunction(stack, "Api", {
    code: WebFunctionCode.fromBucket(new Bucket(stack, "Code", { versioned: true }), "api.zip", "version-id"),
    runtime: WebFunctionRuntime.NODEJS_24_X,
    defaultEndpointAuth: WebFunctionAuthType.IAM_AUTH,
    ...props,
  });

function used(props: Partial<WebFunctionProps> = {}, options: UseIdempotencyOptions = {}) {
  const stack = unitStack();
  const table = new IdempotencyTable(stack, "Table");
  const fn = aWebFunction(stack, props);
  fn.with(new UseIdempotency(table, { operations: ["create-order"], ...options }));
  return { stack, table, fn };
}

const warningsIn = (stack: Stack) =>
  Annotations.fromStack(stack)
    .findWarning("*", Match.stringLikeRegexp("replica-regions"))
    .map(({ entry }) => `${entry.data}`);

describe("UseIdempotency on a web function", () => {
  it("grants exactly what running operations requires, and sets the variables of the revision", () => {
    const { stack } = used({ environment: { OTHER: "kept" } }, { operations: undefined });

    const template = Template.fromStack(stack);
    expect(rightsOf(template, "ApiServiceRole")).toEqual(runsOperationsOn("Table"));
    template.hasResourceProperties(REVISION, {
      ServiceConfig: {
        EnvironmentVariables: {
          OTHER: "kept",
          IDEMPOTENCY_TABLE: { Ref: "TableCD117FA1" },
          IDEMPOTENCY_OUTBOX: "none",
          IDEMPOTENCY_RETENTION_SECONDS: "86400",
        },
      },
    });
  });

  it("is found in a stack, and refused twice", () => {
    const stack = unitStack();
    const fn = aWebFunction(stack);
    const use = new UseIdempotency(new IdempotencyTable(stack, "Table"));
    stack.with(use);

    Template.fromStack(stack).hasResourceProperties(REVISION, {
      ServiceConfig: { EnvironmentVariables: { IDEMPOTENCY_TABLE: { Ref: "TableCD117FA1" } } },
    });
    expect(() => fn.with(use)).toThrow("Test/Api already has UseIdempotency");
  });

  it("passes the bucket of large results", () => {
    const stack = unitStack();
    const retention = Duration.days(2);
    const resultBucket = new ResultBucket(stack, "Results", { retention });
    const options = { operations: ["create-order"], retention, resultBucket };
    aWebFunction(stack).with(new UseIdempotency(new IdempotencyTable(stack, "Table"), options));

    const [revision] = Object.values(Template.fromStack(stack).findResources(REVISION));
    expect(revision?.Properties.ServiceConfig.EnvironmentVariables).toMatchObject({
      IDEMPOTENCY_RETENTION_SECONDS: "172800",
      IDEMPOTENCY_RESULT_BUCKET: expect.anything(),
    });
  });

  it("checks its retention, and a variable that's overridden later", () => {
    const short = used({}, { retention: Duration.minutes(5), clientWindow: Duration.minutes(6) });
    const other = used();
    const revision = other.fn.resourceRevision as CfnWebFunctionRevision;
    revision.addPropertyOverride("ServiceConfig.EnvironmentVariables.IDEMPOTENCY_TABLE", "other");

    expect(faultsOf(short.stack)).toContain("retention 300 s < 360 s");
    expect(faultsOf(other.stack)).toContain(
      "Test/Api sets the variable IDEMPOTENCY_TABLE to a different value",
    );
    expect(() => used({ environment: { IDEMPOTENCY_TABLE: "other" } })).toThrow(
      "Test/Api sets the variable IDEMPOTENCY_TABLE to a different value",
    );
  });

  it("warns about endpoints in other Regions, where the table's name means another table", () => {
    const { multiRegion, perRegion, homeRegion } = WebFunctionEndpointLocation;
    const at = (endpointLocation: WebFunctionEndpointLocation) =>
      warningsIn(used({ defaultEndpoint: { endpointLocation } }).stack);
    const added = used();
    added.fn.addEndpoint("Far", {
      authType: WebFunctionAuthType.IAM_AUTH,
      endpointLocation: multiRegion(["us-east-1"]),
    });

    expect(at(homeRegion())).toEqual([]);
    expect(at(multiRegion(["us-east-1"]))).toEqual([
      expect.stringContaining(
        "Test/Api/Endpoint is a MultiRegion endpoint, so Test/Api/Function also runs in other Regions",
      ),
    ]);
    expect(at(perRegion(["us-east-1"]))).toEqual([expect.stringContaining("is a PerRegion endpoint")]);
    expect(warningsIn(added.stack)).toEqual([
      expect.stringContaining("Test/Api/Far is a MultiRegion endpoint"),
    ]);
  });
});
