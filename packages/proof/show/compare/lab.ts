// One run's own world: tables on a real engine, a handler with counted effects, and time that can be skipped. A proxy
// before the engine can lose or refuse answers.
import { type DynamoDBClient, type DynamoDBClientConfig, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { MiddlewareObj } from "@middy/core";
import type { Context } from "aws-lambda";
import type { Clock } from "../../../../lib/core/clock.ts";
import { connect, createTable } from "../../../../test/kit/tables.ts";
import { type ObservedRequest, type ProxyFault, startFaultProxy } from "../../../local/lib/fault-proxy.ts";
import {
  type HttpAnswer,
  type Invoke,
  type LambdaHandler,
  postOrder,
} from "../../measure/contestants/lambda-call.ts";
import { lambdaContext } from "../../measure/contestants/world.ts";
import { LabTime } from "./lab-time.ts";
import { answerInWords, errorInWords } from "./seen.ts";

export interface Order {
  readonly order: number;
}

/** Resolves to what the caller gets, in words; never rejects. */
export type Call = (event: unknown, context?: Context) => Promise<string>;

export type AdapterName = "wrapper" | "middleware";

/** The part of an event that identifies the operation. */
export type KeyedBy = "id" | "whole event" | "header" | "caller and header";

export interface Deployment {
  readonly handler: LambdaHandler;
  /** @default "id" */
  readonly keyedBy?: KeyedBy;
  /** @default "create-order" */
  readonly operation?: string;
  /** How an event without a key is treated, by an option or by the package's default. */
  readonly keyMissing?: "refused" | "as by default";
  /** Middlewares that see the event after the package's own adapter. */
  readonly after?: readonly MiddlewareObj[];
  /** Whether Middy is around a wrapper too. */
  readonly inMiddy?: boolean;
}

export interface Contestant {
  readonly package: "onceonly" | "Powertools";
  readonly adapter: AdapterName;
  /** Its table's partition key. */
  readonly partitionKey: string;
  /** A new execution environment of a function. */
  deploy(lab: Lab, deployment: Deployment): Invoke;
  /** The same for a function inside a handler, which gets no context; its argument is an event with an `id`. */
  deployInner(lab: Lab, work: () => Promise<unknown>): (event: unknown) => Promise<unknown>;
  /** Stores an order, as safely as the package offers it. */
  storeOrder(lab: Lab, context: Context, order: { readonly order: number }): Promise<unknown>;
}

export class Lab {
  readonly contestant: Contestant;
  readonly client: DynamoDBClient;
  readonly recordsTable: string;
  readonly ordersTable: string;
  /** Decides about every request from now on. */
  faults: (request: ObservedRequest) => ProxyFault = () => "pass";
  /** How many times the effect of the handler happened. */
  effects = 0;
  readonly #time: LabTime;

  constructor(
    contestant: Contestant,
    client: DynamoDBClient,
    tables: { readonly records: string; readonly orders: string },
    time: LabTime,
  ) {
    this.contestant = contestant;
    this.client = client;
    this.recordsTable = tables.records;
    this.ordersTable = tables.orders;
    this.#time = time;
  }

  get clock(): Clock {
    return this.#time.clock;
  }

  skipTime(ms: number): void {
    this.#time.skip(ms);
  }

  /** The effect: something outside that can't be undone. */
  makeOrder(): Order {
    return { order: ++this.effects };
  }

  makeHttpOrder(): HttpAnswer {
    return { statusCode: 201, body: JSON.stringify(this.makeOrder()) };
  }

  /** A new execution environment of the function. */
  deploy(deployment: Deployment): Call {
    const invoke = this.contestant.deploy(this, deployment);
    return inWords((event, context = lambdaContext()) => invoke(event, context));
  }

  /** The same for a function that runs without a Lambda context. */
  deployInner(work: () => Promise<unknown>): Call {
    return inWords(this.contestant.deployInner(this, work));
  }

  async storedOrders(): Promise<number> {
    const { Count } = await this.client.send(
      new ScanCommand({ TableName: this.ordersTable, ConsistentRead: true }),
    );
    return Count ?? 0;
  }
}

/** Runs `work` in a separate lab. */
export async function inLab<T>(
  contestant: Contestant,
  engineEndpoint: string,
  work: (lab: Lab) => Promise<T>,
): Promise<T> {
  let decide: (request: ObservedRequest) => ProxyFault = () => "pass";
  const proxy = await startFaultProxy({ target: engineEndpoint, decide: (request) => decide(request) });
  const client = connect(proxy.endpoint, { retryStrategy: threeTriesAtOnce() });
  const time = new LabTime();
  try {
    const records = await createTable(client, contestant.partitionKey);
    const orders = await createTable(client, "id");
    time.start();
    time.attach(client);
    const lab = new Lab(contestant, client, { records, orders }, time);
    decide = (request) => lab.faults(request);
    return await work(lab);
  } finally {
    time.stop();
    client.destroy();
    await proxy.stop();
  }
}

/** POST /orders by a caller that the gateway's authorizer has verified. */
export function postOrderAs(caller: string, idempotencyKey: string): unknown {
  const { requestContext, ...event } = postOrder(idempotencyKey);
  return {
    ...event,
    requestContext: { ...requestContext, authorizer: { jwt: { claims: { sub: caller } } } },
  };
}

function inWords(call: (event: unknown, context?: Context) => Promise<unknown>): Call {
  return async (event, context) => {
    try {
      return answerInWords(await call(event, context));
    } catch (error) {
      return errorInWords(error);
    }
  };
}

/** The SDK's default number of tries, without its pauses. */
function threeTriesAtOnce(): NonNullable<DynamoDBClientConfig["retryStrategy"]> {
  const token = (count: number) => ({ getRetryCount: () => count, getRetryDelay: () => 0 });
  return {
    acquireInitialRetryToken: async () => token(0),
    refreshRetryTokenForRetry: async (former, { errorType, error }) => {
      if (errorType === "CLIENT_ERROR" || former.getRetryCount() >= 2) throw error;
      return token(former.getRetryCount() + 1);
    },
    recordSuccess: () => undefined,
  };
}
