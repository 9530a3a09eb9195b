// Functions: each in processes of its own, from the code, environment, timeout, memory and handler of the template.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFunctionHost, type FunctionHost } from "../../lambda/function-host.ts";
import { guardDirectory } from "../../process-guard.ts";
import type { Deployed, DeployResource, ResolvedResource } from "../deploy-resource.ts";
import {
  checkUnused,
  functionNamed,
  LOCAL_ACCOUNT_ID,
  LOCAL_PARTITION,
  type LocalEnvironment,
  notRunLine,
  type StackPlace,
} from "../local-environment.ts";

interface FunctionProperties {
  readonly FunctionName?: string;
  readonly PackageType?: string;
  readonly Runtime?: string;
  readonly Handler?: string;
  readonly Timeout?: number | string;
  readonly MemorySize?: number | string;
  readonly Environment?: { readonly Variables?: Readonly<Record<string, unknown>> };
  readonly Layers?: readonly unknown[];
  readonly DeadLetterConfig?: { readonly TargetArn?: string };
  /** A path, in a template that is not packaged yet. */
  readonly Code: string | { readonly S3Key?: string; readonly ZipFile?: string };
}

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-function.html */
const DEFAULT_TIMEOUT_SECONDS = 3;

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

  const obstacle = obstacleOf(properties);
  const codeDirectory = obstacle ? undefined : await codeDirectoryOf(properties, environment, place);
  if (codeDirectory === undefined) {
    const reason = obstacle ?? "its code is not a folder of this assembly";
    environment.notRun.push(`${resource.type} ${resource.path} (${resource.logicalId}): ${reason}`);
    return deployed;
  }
  if (properties.Layers?.length) {
    environment.notRun.push(
      `the layers of ${resource.path} (${resource.logicalId}): its code runs without them`,
    );
  }

  const quiet = createFunctionHost({
    name,
    codeDirectory,
    handler: properties.Handler ?? "index.handler",
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: environment.dynamodbEndpoint,
      AWS_ENDPOINT_URL_SQS: environment.sqs.endpoint,
      AWS_ENDPOINT_URL_LAMBDA: environment.awsEndpoint,
      AWS_ENDPOINT_URL_SNS: environment.awsEndpoint,
      AWS_ENDPOINT_URL_EVENTBRIDGE: environment.awsEndpoint,
      // The Node that runs this may be older than the runtime of the template; that is no news for its logs.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
      ...textValues(properties.Environment?.Variables ?? {}),
      ...environment.functionEnvironment,
    },
    ...(properties.Timeout !== undefined && { timeoutMs: Number(properties.Timeout) * 1000 }),
    ...(properties.MemorySize !== undefined && { memoryMb: Number(properties.MemorySize) }),
    region: place.region,
    accountId: LOCAL_ACCOUNT_ID,
    log: ({ line }) => environment.log(`[${resource.path}] ${line}`),
  });
  const host: FunctionHost = {
    ...quiet,
    invoke(payload, extras) {
      environment.invoked(resource.path, payload);
      return quiet.invoke(payload, extras);
    },
  };
  environment.onStop(() => host.stop());
  const { logicalId } = resource;
  const timeoutSeconds = Number(properties.Timeout ?? DEFAULT_TIMEOUT_SECONDS);
  const deadLetters = properties.DeadLetterConfig?.TargetArn;
  if (deadLetters !== undefined) environment.asynchronous.set(name, { deadLetters });
  environment.functions.set(resource.path, { logicalId, name, arn, timeoutSeconds, host });
  return deployed;
}

function obstacleOf({ PackageType, Runtime }: FunctionProperties): string | undefined {
  if (PackageType === "Image") return "container images are not run, only zip packages are";
  return Runtime?.startsWith("nodejs") ? undefined : `runtime ${Runtime} is not run, only Node.js is`;
}

async function codeDirectoryOf(
  { Code }: FunctionProperties,
  environment: LocalEnvironment,
  { assets }: StackPlace,
): Promise<string | undefined> {
  if (typeof Code === "string") return assets.get(Code)?.path;
  if (Code.ZipFile !== undefined) return inlineCode(Code.ZipFile, environment);
  const asset = assets.get(String(Code.S3Key));
  return asset?.packaging === "zip" ? asset.path : undefined;
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

/** How often an asynchronous invocation is tried again, for how long, and who is told of its end. */
async function deployInvokeConfig(
  resource: ResolvedResource,
  environment: LocalEnvironment,
): Promise<Deployed> {
  const { FunctionName, MaximumRetryAttempts, MaximumEventAgeInSeconds, DestinationConfig } =
    resource.properties;
  const target = functionNamed(environment, String(FunctionName));
  if (!target) {
    environment.notRun.push(notRunLine(resource, `${FunctionName} is not a function that runs here`));
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
