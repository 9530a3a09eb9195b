/** Describes a run's deployed resources for `onceonly doctor`: the template's properties, with all references resolved. */
import { ENVIRONMENT } from "onceonly/kit";
import type { ServedAws } from "../aws-endpoint.ts";
import type { DeployedResource, LocalEnvironment } from "./local-environment.ts";

/** A path that no service of AWS has. */
export const DESCRIBED_RUN_PATH = "/_onceonly/run";

export interface DescribedRun {
  /** Distinguishes this response from any other server's. */
  readonly onceonly: "run";
  readonly endpoints: { readonly dynamodb: string; readonly sqs: string };
  readonly resources: readonly DescribedResource[];
}

export interface DescribedResource {
  readonly type: string;
  /** The construct path. */
  readonly path: string;
  readonly region: string;
  /** A queue's URL; absent if the resource has no name. */
  readonly name?: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

const DESCRIBED: ReadonlySet<string> = new Set([
  "AWS::DynamoDB::GlobalTable",
  "AWS::DynamoDB::Table",
  "AWS::Events::Rule",
  "AWS::Lambda::EventSourceMapping",
  "AWS::Lambda::Function",
  "AWS::SQS::Queue",
  "AWS::Scheduler::Schedule",
]);

export const isDescribed = (type: string): boolean => DESCRIBED.has(type);

/** Answers at the address of AWS that a run prints. */
export function describedRunService(environment: LocalEnvironment): ServedAws {
  return ({ method, url }) => {
    if (method !== "GET" || url.pathname !== DESCRIBED_RUN_PATH) return undefined;
    const headers = { "content-type": "application/json" };
    return Promise.resolve({ statusCode: 200, headers, body: JSON.stringify(describe(environment)) });
  };
}

function describe(environment: LocalEnvironment): DescribedRun {
  const { dynamodbEndpoint, sqs, deployed } = environment;
  return {
    onceonly: "run",
    endpoints: { dynamodb: dynamodbEndpoint, sqs: sqs.endpoint },
    resources: deployed.map((resource) => describeResource(environment, resource)),
  };
}

function describeResource(
  environment: LocalEnvironment,
  { type, path, region, properties }: DeployedResource,
): DescribedResource {
  const name = nameOf(environment, type, path);
  const { Environment, Code: _, ...others } = properties;
  return {
    type,
    path,
    region,
    ...(name !== undefined && { name }),
    properties: {
      ...others,
      ...(Environment !== undefined && { Environment: withoutSecrets(Environment) }),
      // It may be switched off and on while it runs.
      ...(type === "AWS::Lambda::EventSourceMapping" && {
        Enabled: environment.eventSources.get(path)?.enabled === true,
      }),
    },
  };
}

function nameOf({ tables, functions, queues }: LocalEnvironment, type: string, path: string) {
  if (type === "AWS::SQS::Queue") return queues.get(path)?.url;
  if (type === "AWS::Lambda::Function") return functions.get(path)?.name;
  return /^AWS::DynamoDB::/.test(type) ? tables.get(path)?.name : undefined;
}

/** The variables that onceonly reads: others may be secrets. */
function withoutSecrets(environment: unknown): object {
  const { Variables = {} }: { Variables?: Readonly<Record<string, unknown>> } = Object(environment);
  const names: readonly string[] = Object.values(ENVIRONMENT);
  return {
    Variables: Object.fromEntries(Object.entries(Variables).filter(([name]) => names.includes(name))),
  };
}
