// Functions: each in separate processes, with the code, environment, timeout, memory and handler from the template.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FunctionHost, FunctionHostOptions } from "../../lambda/function-host.ts";
import { createReplaceableHost } from "../../lambda/replaceable-host.ts";
import { guardDirectory } from "../../process-guard.ts";
import type { Deployed, DeployResource } from "../deploy-resource.ts";
import type { ResolvedResource } from "../local-environment.ts";
import {
  checkUnused,
  functionNamed,
  LOCAL_ACCOUNT_ID,
  LOCAL_PARTITION,
  type LocalEnvironment,
  notRunLine,
  type StackPlace,
} from "../local-environment.ts";
import { contentOf } from "../source-files.ts";

interface FunctionProperties {
  readonly FunctionName?: string;
  readonly PackageType?: string;
  readonly Runtime?: string;
  readonly Handler?: string;
  readonly Timeout?: number | string;
  readonly MemorySize?: number | string;
  readonly Environment?: { readonly Variables?: Readonly<Record<string, unknown>> };
  readonly Layers?: readonly unknown[];
  readonly DurableConfig?: object;
  readonly DeadLetterConfig?: { readonly TargetArn?: string };
  /** A path, in a template that is not packaged yet. */
  readonly Code: string | { readonly S3Key?: string; readonly ZipFile?: string };
}

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-function.html */
const DEFAULT_TIMEOUT_SECONDS = 3;

const NO_EXECUTIONS =
  "durable executions don't run here: run the handler in LocalDurableTestRunner of @aws/durable-execution-sdk-js-testing";

async function deployFunction(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  place: StackPlace,
): Promise<Deployed> {
  const properties = resource.properties as unknown as FunctionProperties;
  const name = properties.FunctionName ?? resource.generatedName;
  const arn = arnOf(name, place);
  const deployed = { ref: name, attributes: { Arn: arn } };
  const others = [...environment.functions.values()];
  checkUnused(
    others.map((each) => each.arn),
    arn,
    resource.path,
  );

  const code = await codeOf(properties, environment, place);
  if ("problem" in code) {
    environment.notRun.push(notRunLine(resource, code.problem));
    return deployed;
  }
  if (properties.Layers?.length) {
    environment.notRun.push(
      `the layers of ${resource.path} (${resource.logicalId}): its code runs without them`,
    );
  }

  let running = definitionOf(resource, environment, place, { name, code });
  const quiet = createReplaceableHost(running.options);
  const host: FunctionHost = {
    ...quiet,
    invoke(payload, extras) {
      environment.invoked(resource.path, payload);
      return quiet.invoke(payload, extras);
    },
  };
  environment.onStop(() => host.stop());
  const deadLetters = properties.DeadLetterConfig?.TargetArn;
  if (deadLetters !== undefined) environment.asynchronous.set(name, { deadLetters });
  environment.functions.set(resource.path, {
    logicalId: resource.logicalId,
    name,
    arn,
    timeoutSeconds: Number(properties.Timeout ?? DEFAULT_TIMEOUT_SECONDS),
    host,
    get codeDirectory() {
      return running.options.codeDirectory;
    },
    async redeploy(changed, newPlace) {
      const newProperties = changed.properties as unknown as FunctionProperties;
      if ((newProperties.FunctionName ?? changed.generatedName) !== name)
        return { problem: "its name changed" };
      const newCode = await codeOf(newProperties, environment, newPlace);
      if ("problem" in newCode) return newCode;
      const next = definitionOf(changed, environment, newPlace, { name, code: newCode });
      if (next.identity === running.identity) return false;
      running = next;
      void quiet.replace(next.options);
      return true;
    },
  });
  return deployed;
}

interface FunctionCode {
  readonly directory: string;
  /** The same for the same code. */
  readonly content: string;
}

/** What runs, and what distinguishes it from another deployment of the function. */
function definitionOf(
  { path, properties: given }: ResolvedResource,
  environment: LocalEnvironment,
  { region }: StackPlace,
  { name, code }: { readonly name: string; readonly code: FunctionCode },
): { readonly options: FunctionHostOptions; readonly identity: string } {
  const properties = given as unknown as FunctionProperties;
  const definition = {
    name,
    handler: properties.Handler ?? "index.handler",
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: environment.dynamodbEndpoint,
      AWS_ENDPOINT_URL_SQS: environment.sqs.endpoint,
      AWS_ENDPOINT_URL_LAMBDA: environment.awsEndpoint,
      AWS_ENDPOINT_URL_SNS: environment.awsEndpoint,
      AWS_ENDPOINT_URL_EVENTBRIDGE: environment.awsEndpoint,
      // This Node may be older than the template's runtime; that warning doesn't belong in the function's logs.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
      ...textValues(properties.Environment?.Variables ?? {}),
      ...environment.functionEnvironment,
    },
    ...(properties.Timeout !== undefined && { timeoutMs: Number(properties.Timeout) * 1000 }),
    ...(properties.MemorySize !== undefined && { memoryMb: Number(properties.MemorySize) }),
    region,
    accountId: LOCAL_ACCOUNT_ID,
  };
  return {
    options: {
      ...definition,
      codeDirectory: code.directory,
      log: ({ line }) => environment.log(`[${path}] ${line}`),
    },
    identity: JSON.stringify([definition, code.content]),
  };
}

function obstacleOf({ PackageType, Runtime }: FunctionProperties): string | undefined {
  if (PackageType === "Image") return "container images don't run, only zip packages do";
  return Runtime?.startsWith("nodejs") ? undefined : `runtime ${Runtime} doesn't run, only Node.js does`;
}

async function codeOf(
  properties: FunctionProperties,
  environment: LocalEnvironment,
  { assets }: StackPlace,
): Promise<FunctionCode | { readonly problem: string }> {
  const obstacle = obstacleOf(properties) ?? (properties.DurableConfig && NO_EXECUTIONS);
  if (obstacle !== undefined) return { problem: obstacle };
  const { Code } = properties;
  if (typeof Code !== "string" && Code.ZipFile !== undefined) {
    return { directory: await inlineCode(Code.ZipFile, environment), content: Code.ZipFile };
  }
  const asset = assets.get(typeof Code === "string" ? Code : String(Code.S3Key));
  return asset?.packaging === "zip"
    ? { directory: asset.path, content: contentOf(asset.path) }
    : { problem: "its code isn't a folder of this assembly" };
}

async function inlineCode(source: string, environment: LocalEnvironment): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "onceonly-inline-"));
  guardDirectory(directory);
  environment.onStop(() => rm(directory, { recursive: true, force: true }));
  await writeFile(join(directory, "index.js"), source);
  return directory;
}

function textValues(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

// Versions and aliases stand for the one function that runs.
async function deployVersion(
  { properties }: ResolvedResource,
  _: LocalEnvironment,
  place: StackPlace,
): Promise<Deployed> {
  const arn = arnOf(String(properties.FunctionName), place);
  return { ref: `${arn}:1`, attributes: { FunctionArn: `${arn}:1`, Version: "1" } };
}

async function deployAlias(
  { properties }: ResolvedResource,
  _: LocalEnvironment,
  place: StackPlace,
): Promise<Deployed> {
  const arn = `${arnOf(String(properties.FunctionName), place)}:${properties.Name}`;
  return { ref: arn, attributes: { AliasArn: arn } };
}

/** How often and for how long an asynchronous invocation is retried, and where its end is reported. */
async function deployInvokeConfig(
  resource: ResolvedResource,
  environment: LocalEnvironment,
): Promise<Deployed> {
  const { FunctionName, MaximumRetryAttempts, MaximumEventAgeInSeconds, DestinationConfig } =
    resource.properties;
  const target = functionNamed(environment, String(FunctionName));
  if (!target) {
    environment.notRun.push(notRunLine(resource, `${FunctionName} isn't a function of this run`));
    return { ref: resource.logicalId };
  }
  const { OnSuccess, OnFailure } = Object(DestinationConfig);
  environment.asynchronous.set(target.name, {
    ...environment.asynchronous.get(target.name),
    retries: numberOf(MaximumRetryAttempts),
    maxAgeSeconds: numberOf(MaximumEventAgeInSeconds),
    onSuccess: OnSuccess?.Destination,
    onFailure: OnFailure?.Destination,
  });
  return { ref: resource.logicalId };
}

function numberOf(value: unknown): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function arnOf(name: string, { region }: StackPlace): string {
  if (name.startsWith("arn:")) return name;
  return `arn:${LOCAL_PARTITION}:lambda:${region}:${LOCAL_ACCOUNT_ID}:function:${name}`;
}

export const FUNCTION_TYPES: Readonly<Record<string, DeployResource>> = {
  "AWS::Lambda::Function": deployFunction,
  "AWS::Lambda::Version": deployVersion,
  "AWS::Lambda::Alias": deployAlias,
  "AWS::Lambda::EventInvokeConfig": deployInvokeConfig,
};
