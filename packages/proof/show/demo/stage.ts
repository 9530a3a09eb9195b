// The sample on local engines, with the demo's hands between its functions and all that they use.
import type { APIGatewayProxyEventV2, DynamoDBStreamEvent } from "aws-lambda";
import { startMiddleman } from "../../../../test/kit/faults/middleman.ts";
import { type ObservedRequest, startFaultProxy } from "../../../local/lib/fault-proxy.ts";
import {
  type DynamoDBEngine,
  type RunningStack,
  startDynamoDB,
  startStack,
} from "../../../local/lib/index.ts";
import { type Deliveries, watchDeliveries } from "./deliveries.ts";
import type { Interference } from "./interference.ts";
import type { Observation } from "./observation.ts";
import { OPERATIONS } from "./order-book.ts";
import { openQueues, type Queues } from "./queues.ts";
import { createReceipts, RECEIPT_QUEUES, type Receipts } from "./receipts.ts";
import { findSample } from "./sample.ts";
import { type Sweeper, watchSweeper } from "./sweeper.ts";
import { openTables, type Tables } from "./tables.ts";
import { type Witness, witness } from "./witness.ts";

export interface StageOptions {
  /** The folder of the CDK app. */
  readonly folder: string;
  /** A DynamoDB that runs already. @default - one is started */
  readonly dynamodbEndpoint?: string | undefined;
  readonly interference: Interference;
  /** Whether its functions write records, by which their executions are counted. @default true */
  readonly hasRecords?: boolean | undefined;
  readonly signal: AbortSignal;
}

export interface Stage {
  readonly engine: DynamoDBEngine["engine"];
  readonly url: string;
  readonly gatewayUrl: string;
  readonly orderFunction: Witness<APIGatewayProxyEventV2>;
  readonly sagaFunction: Witness<APIGatewayProxyEventV2>;
  readonly relay: Witness<DynamoDBStreamEvent>;
  readonly sweeper: Sweeper;
  readonly deliveries: Deliveries;
  /** The relay's event source. */
  readonly stream: RunningStack["eventSources"][string];
  /** Makes the sweeper do now what it does once a minute. */
  readonly sweep: () => Promise<void>;
  readonly queues: Queues;
  readonly tables: Tables;
  readonly receipts: Receipts;
  /** Handlers that were started so far. */
  executions(): Promise<Observation["executions"]>;
  /** Requests that the functions sent to DynamoDB so far. */
  databaseRequests(): number;
  lostAnswers(): number;
  stop(): Promise<void>;
}

/** Any path works, except a receipts queue's: the proxy leads to one queue. The suffix marks it as a FIFO queue. */
const QUEUE_PATH = "/000000000000/payments.fifo";

export async function startStage({
  folder,
  interference,
  hasRecords = true,
  signal,
  ...given
}: StageOptions): Promise<Stage> {
  const undos: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (let undo = undos.pop(); undo; undo = undos.pop()) await undo();
  };
  const started = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const running = await starting;
    undos.push(() => running.stop());
    return running;
  };
  try {
    const { faults, gateway, queue, sagaKills, clock } = interference;
    const decide = (request: ObservedRequest) => sagaKills.decide(request) ?? faults.decide(request);
    const dynamodb = await started(startDynamoDB({ endpoint: given.dynamodbEndpoint }));
    const proxy = await started(startFaultProxy({ target: dynamodb.endpoint, decide }));
    const toQueue = await started(startMiddleman(queue.carry));
    const toGateway = await started(startMiddleman(sagaKills.carrying(gateway.carry)));
    const stack = await started(
      startStack({
        folder,
        dynamodbEndpoint: dynamodb.endpoint,
        functionEnvironment: {
          AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint,
          AWS_ENDPOINT_URL_SQS: toQueue.endpoint,
          PAYMENTS_QUEUE_URL: toQueue.endpoint + QUEUE_PATH,
          OUTBOX_DESTINATIONS: JSON.stringify([
            toQueue.endpoint + QUEUE_PATH,
            ...Object.values(RECEIPT_QUEUES).map(urlOf(toQueue.endpoint)),
          ]),
          GATEWAY_URL: toGateway.endpoint,
        },
        clock,
        signal,
      }),
    );
    const { apis, hosts, stream, schedule, tableNames, queues: ofSample } = findSample(stack);
    toQueue.leadTo(stack.endpoints.sqs);
    queue.leadTo(ofSample.queueUrl);
    toGateway.leadTo(apis.gateway);
    const tables = openTables(dynamodb.endpoint, tableNames);
    undos.push(async () => tables.close());
    const queues = openQueues({
      ...ofSample,
      endpoint: stack.endpoints.sqs,
      senderEndpoint: toQueue.endpoint,
      senderUrl: toQueue.endpoint + QUEUE_PATH,
    });
    undos.push(async () => queues.close());
    const sweep = () => schedule.fire();
    const { engine, senders } = queues;
    const receipts = createReceipts({
      tables,
      queues: engine,
      senders,
      urlOf: urlOf(toQueue.endpoint),
      sweep,
    });
    const orderFunction = witness<APIGatewayProxyEventV2>(hosts.createOrder);
    const deliveries = watchDeliveries(hosts.chargePayment);
    return {
      engine: dynamodb.engine,
      url: apis.orders,
      gatewayUrl: toGateway.endpoint,
      orderFunction,
      sagaFunction: witness<APIGatewayProxyEventV2>(hosts.placeOrder),
      relay: witness(hosts.relay),
      sweeper: watchSweeper(hosts.sweeper),
      deliveries,
      stream,
      sweep,
      queues,
      tables,
      receipts,
      executions: async () =>
        hasRecords
          ? {
              orders: await tables.executions(OPERATIONS.order),
              payments: await tables.executions(OPERATIONS.payment),
            }
          : { orders: orderFunction.started, payments: deliveries.all.length },
      databaseRequests: () => proxy.counts().requests,
      lostAnswers: () => proxy.counts().lost,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function urlOf(endpoint: string): (queue: string) => string {
  return (queue) => `${endpoint}/000000000000/${queue}`;
}
