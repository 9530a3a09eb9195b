// Function URLs: each a port of its own that hands every request to one function.
import { createHash } from "node:crypto";
import { LONGEST_INVOCATION_SECONDS } from "onceonly/kit";
import type { Deployed, DeployResource } from "../deploy-resource.ts";
import type { CorsConfiguration } from "../gateway/cors.ts";
import { functionUrlKind } from "../gateway/function-url-kind.ts";
import { startGateway } from "../gateway/gateway.ts";
import type { ResolvedResource } from "../local-environment.ts";
import {
  functionNamed,
  type LocalEnvironment,
  notRunLine,
  pathOf,
  type StackPlace,
} from "../local-environment.ts";

/** A function behind a URL may run until its own timeout. */
const LONGEST_TIMEOUT_MS = LONGEST_INVOCATION_SECONDS * 1000;

async function deployUrl(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  { region }: StackPlace,
): Promise<Deployed> {
  const { TargetFunctionArn, AuthType, InvokeMode, Cors } = resource.properties;
  const { notRun, log, clock, functionUrls } = environment;
  const target = functionNamed(environment, String(TargetFunctionArn));
  if (!target) {
    notRun.push(notRunLine(resource, `${TargetFunctionArn} isn't a function of this run`));
    return { ref: String(TargetFunctionArn) };
  }
  const leaveOut = (reason: string) => void notRun.push(notRunLine(resource, reason));
  if (AuthType === "AWS_IAM") leaveOut("signatures aren't required");
  if (InvokeMode === "RESPONSE_STREAM") leaveOut("responses are sent whole, not streamed");
  const server = await startGateway({
    kind: functionUrlKind(region),
    apiId: createHash("sha256").update(resource.generatedName).digest("hex").slice(0, 32),
    accountId: "anonymous",
    region,
    cors: Cors as CorsConfiguration | undefined,
    port: environment.nextPort(),
    now: clock.now,
    log,
  });
  environment.onStop(() => server.close());
  server.setRoute("$default", {
    target: pathOf(environment.functions, target),
    invoke: (payload) => target.host.invoke(payload),
    timeoutMs: LONGEST_TIMEOUT_MS,
    authorizer: undefined,
  });
  const url = `${server.url}/`;
  functionUrls.set(resource.path, url);
  return { ref: target.arn, attributes: { FunctionUrl: url, FunctionArn: target.arn } };
}

export const FUNCTION_URL_TYPES: Readonly<Record<string, DeployResource>> = {
  "AWS::Lambda::Url": deployUrl,
};
