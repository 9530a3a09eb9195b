// The sample's template, as it is deployed for good.
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { SampleStack } from "../../../../bin/sample-stack.ts";

export function sampleTemplate(): object {
  const app = new App({
    builtinCloudFormationValidation: false,
    context: { "aws:cdk:bundling-stacks": [], "aws:cdk:enable-path-metadata": true },
  });
  return Template.fromStack(new SampleStack(app, "Sample", { ephemeral: false, tokenDigests: {} })).toJSON();
}
