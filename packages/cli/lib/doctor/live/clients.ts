/** The clients with which the doctor looks at what lives: loaded when needed, counted, bounded. They only read. */
import type { CloudFormation } from "@aws-sdk/client-cloudformation";
import type { CloudWatch } from "@aws-sdk/client-cloudwatch";
import type { DynamoDB } from "@aws-sdk/client-dynamodb";
import type { EventBridge } from "@aws-sdk/client-eventbridge";
import type { Lambda } from "@aws-sdk/client-lambda";
import type { Scheduler } from "@aws-sdk/client-scheduler";
import type { SQS } from "@aws-sdk/client-sqs";
import { type OptionValues, UsageError } from "../../command.ts";
import { resolveInstalled } from "../../installed.ts";
import { type CommonConfig, clientConfig } from "../../table.ts";

interface LiveClientOf {
  readonly cloudformation: CloudFormation;
  readonly cloudwatch: CloudWatch;
  readonly dynamodb: DynamoDB;
  readonly eventbridge: EventBridge;
  readonly lambda: Lambda;
  readonly scheduler: Scheduler;
  readonly sqs: SQS;
}

export type LiveService = keyof LiveClientOf;

const LOADERS: { readonly [S in LiveService]: () => Promise<new (config: CommonConfig) => LiveClientOf[S]> } =
  {
    cloudformation: async () => (await import("@aws-sdk/client-cloudformation")).CloudFormation,
    cloudwatch: async () => (await import("@aws-sdk/client-cloudwatch")).CloudWatch,
    dynamodb: async () => (await import("@aws-sdk/client-dynamodb")).DynamoDB,
    eventbridge: async () => (await import("@aws-sdk/client-eventbridge")).EventBridge,
    lambda: async () => (await import("@aws-sdk/client-lambda")).Lambda,
    scheduler: async () => (await import("@aws-sdk/client-scheduler")).Scheduler,
    sqs: async () => (await import("@aws-sdk/client-sqs")).SQS,
  };

/** A dead or slow service must not hold up the answer of the others. */
const REQUEST_MS = 20_000;

/** The bound on requests is reached. */
export class RequestBoundError extends Error {
  override readonly name = "RequestBoundError";
}

/** A client is not installed; the message is the command that installs it. */
export class MissingClientError extends Error {}

export class LiveClients {
  readonly #values: OptionValues;
  readonly #mostRequests: number;
  readonly #open = new Map<string, { destroy(): void }>();
  /** Requests that were sent, repeated ones too. */
  requests = 0;

  constructor(values: OptionValues, mostRequests: number) {
    this.#values = values;
    this.#mostRequests = mostRequests;
  }

  /**
   * @param region absent for that of the person
   * @param endpoint absent for that of the person
   * @throws MissingClientError
   */
  async of<S extends LiveService>(service: S, region?: string, endpoint?: string): Promise<LiveClientOf[S]> {
    const name = `${service} ${region} ${endpoint}`;
    const known = this.#open.get(name) as LiveClientOf[S] | undefined;
    if (known) return known;
    checkClients([service]);
    const Client = await LOADERS[service]();
    const client = new Client({
      ...clientConfig({ ...this.#values, ...(endpoint !== undefined && { endpoint }) }),
      ...(region !== undefined && { region }),
    });
    this.#count(client as DynamoDB);
    this.#open.set(name, client);
    return client;
  }

  /** The Region in which names without one are looked for. @throws UsageError where the person has none */
  async region(): Promise<string> {
    const client = await this.of("dynamodb");
    try {
      return await client.config.region();
    } catch {
      throw new UsageError("no region: pass --region, or set AWS_REGION");
    }
  }

  close(): void {
    for (const client of this.#open.values()) client.destroy();
  }

  #count(client: DynamoDB): void {
    // In this step each try of a request passes, not only the first.
    client.middlewareStack.add(
      (next) => (args) => {
        if (this.requests >= this.#mostRequests)
          throw new RequestBoundError(`${this.#mostRequests} requests were made`);
        this.requests += 1;
        return next(args);
      },
      { step: "deserialize", name: "countRequests" },
    );
  }
}

/** The option that bounds how long a request may take. */
export const inTime = () => ({ abortSignal: AbortSignal.timeout(REQUEST_MS) });

/** @throws MissingClientError that names each client that is not installed, before anything is asked */
export function checkClients(services: readonly LiveService[]): void {
  const packages = services.map((service) => `@aws-sdk/client-${service}`);
  const missing = packages.filter((name) => resolveInstalled(name) === undefined);
  if (missing.length > 0) throw new MissingClientError(`run npm install --save-dev ${missing.join(" ")}`);
}
