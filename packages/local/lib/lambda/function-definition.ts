// A function's definition from its template, and the environment that its process sees. Pure.

export interface FunctionDefinition {
  readonly name: string;
  /** The folder with the bundle. */
  readonly codeDirectory: string;
  /** As in a template: file without extension, dot, export; `index.handler`. */
  readonly handler: string;
  /** The template's variables; nothing of our own environment is added to them. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** @default 3000, as on Lambda */
  readonly timeoutMs?: number | undefined;
  /** @default 128, as on Lambda */
  readonly memoryMb?: number | undefined;
  /** @default "us-east-1" */
  readonly region?: string | undefined;
  /** @default "000000000000" */
  readonly accountId?: string | undefined;
}

const DEFAULT_TIMEOUT_MS = 3_000;
const DEFAULT_MEMORY_MB = 128;

export function limitsOf({ timeoutMs, memoryMb }: FunctionDefinition): {
  timeoutMs: number;
  memoryMb: number;
} {
  return { timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS, memoryMb: memoryMb ?? DEFAULT_MEMORY_MB };
}

export function functionArn({ name, region, accountId }: FunctionDefinition): string {
  return `arn:aws:lambda:${region ?? "us-east-1"}:${accountId ?? "000000000000"}:function:${name}`;
}

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime */
export function processEnvironment(
  definition: FunctionDefinition,
  place: { readonly taskRoot: string; readonly runtimeApi: string; readonly logStream: string },
): Record<string, string> {
  const region = definition.region ?? "us-east-1";
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "en_US.UTF-8",
    TZ: ":UTC",
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_SESSION_TOKEN: "local",
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(limitsOf(definition).memoryMb),
    AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: place.logStream,
    AWS_EXECUTION_ENV: `AWS_Lambda_nodejs${process.versions.node.split(".")[0]}.x`,
    ...definition.environment,
    AWS_LAMBDA_RUNTIME_API: place.runtimeApi,
    LAMBDA_TASK_ROOT: place.taskRoot,
    _HANDLER: definition.handler,
  };
}
