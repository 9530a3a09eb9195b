// An app for unit tests of constructs: nothing is bundled and nothing is validated, which requires seconds.
import { App, type AppProps, Stack, type StackProps } from "aws-cdk-lib";

export function unitApp(context: AppProps["context"] = {}): App {
  return new App({
    builtinCloudFormationValidation: false,
    analyticsReporting: false,
    context: { "aws:cdk:bundling-stacks": [], ...context },
  });
}

export function unitStack(props: StackProps = {}): Stack {
  return new Stack(unitApp(), "Test", props);
}
