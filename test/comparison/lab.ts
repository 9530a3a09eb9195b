// One run's own world: tables on a real engine behind a proxy that can lose or refuse answers, a handler whose effects
// are counted, and time that can be skipped.
import { type DynamoDBClient, type DynamoDBClientConfig, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { Context } from "aws-lambda";
import type { HttpAnswer, Invoke } from "../../bench/contestants/lambda-call.ts";
import { lambdaContext } from "../../bench/contestants/world.ts";
import type { Clock } from "../../lib/core/clock.ts";
import { type Fault, type ObservedRequest, startFaultProxy } from "../../lib/local/fault-proxy.ts";
import { connect, createTable } from "../dynamodb/tables.ts";
import type { Contestant } from "./contestants.ts";
import { LabTime } from "./lab-time.ts";

export interface Order {
  readonly order: number;
}

export class Lab {
  readonly contestant: Contestant;
  readonly client: DynamoDBClient;
  readonly recordsTable: string;
  readonly ordersTable: string;
  /** Decides about every request from now on. */
  faults: (request: ObservedRequest) => Fault = () => "pass";
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

  /** The effect: something outside that cannot be taken back. */
  makeOrder(): Order {
    return { order: ++this.effects };
  }

  /** A new execution environment of the function. */
  deploy(handler: (context: Context) => Promise<Order>): (event: unknown) => Promise<string> {
    return answering(this.contestant.deploy(this, (_event, context) => handler(context)));
  }

  deployForWholeEvents(handler: () => Promise<Order>): (event: unknown) => Promise<string> {
    return answering(this.contestant.deployForWholeEvents(this, handler));
  }

  deployHttp(handler: () => Promise<Order>): (event: unknown) => Promise<string> {
    const httpHandler = async () => ({ statusCode: 201, body: JSON.stringify(await handler()) });
    return answering(this.contestant.deployHttp(this, httpHandler));
  }

  async storedOrders(): Promise<number> {
    const { Count } = await this.client.send(
      new ScanCommand({ TableName: this.ordersTable, ConsistentRead: true }),
    );
    return Count ?? 0;
  }
}

/** Runs `work` in a lab of its own. */
export async function inLab<T>(
  contestant: Contestant,
  engineEndpoint: string,
  work: (lab: Lab) => Promise<T>,
): Promise<T> {
  let decide: (request: ObservedRequest) => Fault = () => "pass";
  const proxy = await startFaultProxy({ target: engineEndpoint, decide: (request) => decide(request) });
  const client = connect(proxy.endpoint, { retryStrategy: threeTriesAtOnce() });
  const time = new LabTime();
  try {
    const records = await createTable(client, contestant.partitionKey);
    const orders = await createTable(client, "id");
    time.start();
    const lab = new Lab(contestant, client, { records, orders }, time);
    decide = (request) => lab.faults(request);
    return await work(lab);
  } finally {
    time.stop();
    client.destroy();
    await proxy.stop();
  }
}

/** What a caller sees: `order 1`, `201 order 1`, `422`, or the name of the error. */
function answering(invoke: Invoke): (event: unknown) => Promise<string> {
  return async (event) => {
    try {
      const answer = (await invoke(event, lambdaContext())) as Order | HttpAnswer;
      if (!("statusCode" in answer)) return `order ${answer.order}`;
      const { order } = JSON.parse(answer.body) as Partial<Order>;
      return order === undefined ? `${answer.statusCode}` : `${answer.statusCode} order ${order}`;
    } catch (error) {
      return error instanceof Error ? error.name : String(error);
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
