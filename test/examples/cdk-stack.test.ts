import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { expect, it, onTestFinished } from "vitest";
import { OrdersStack } from "../../examples/cdk-stack/stack.ts";

it("synthesizes without an error, a warning or a note, and bundles both functions", async () => {
  const outdir = await mkdtemp(join(tmpdir(), "onceonly-example-"));
  onTestFinished(() => rm(outdir, { recursive: true }));
  // CloudFormation's own rules take seconds; the checks of onceonly run.
  const app = new App({ outdir, analyticsReporting: false, builtinCloudFormationValidation: false });
  const stack = new OrdersStack(app, "Orders", { issuer: "https://login.example", audience: "orders" });

  const template = Template.fromStack(stack);

  const annotations = Annotations.fromStack(stack);
  for (const level of ["Error", "Warning", "Info"] as const)
    expect(annotations[`find${level}`]("*", Match.anyValue())).toEqual([]);
  const handlers = Object.values(template.findResources("AWS::Lambda::Function"));
  // Two with a bundle each, and relay and sweeper, which share a prebuilt one.
  expect(handlers).toHaveLength(4);
  const bundles = readdirSync(outdir, { recursive: true, encoding: "utf8" });
  expect(bundles.filter((file) => /^asset\..*index\.mjs$/.test(file))).toHaveLength(3);
});
