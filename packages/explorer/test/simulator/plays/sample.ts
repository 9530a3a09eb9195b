// The sample as a simulated stack: orders are made over HTTP, their payments travel through outbox, relay and queue to a
// gateway. One schedule: a seed decides who asks when, how long everything takes, and what goes wrong.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBOutbox } from "onceonly/dynamodb";
import { outboxRelay, outboxSweeper } from "onceonly/messaging";
import { PAYMENTS } from "../../../../../test/kit/shop/environment.ts";
import { Gateway } from "../../../../../test/kit/shop/gateway.ts";
import { type Answer, type OrderClient, orderClient } from "../../../../../test/kit/shop/order-client.ts";
import { randomFaults } from "../../../lib/simulator/random-faults.ts";
import { SeededRandom } from "../../../lib/simulator/seeded-random.ts";
import type { LambdaHandler } from "../../../lib/simulator/simulated-function.ts";
import { Simulator } from "../../../lib/simulator/simulator.ts";
import { createShop } from "../given.ts";

// After their environment.
const { handler: createOrderHandler } = await import("../../../../../functions/create-order.ts");
const { handler: chargePayment } = await import("../../../../../functions/charge-payment.ts");

export interface Plan {
  readonly seed: number;
  /** The chance of an I/O to meet a fault. */
  readonly faultRate: number;
  readonly keys: number;
  readonly deliveries: number;
  /** In place of the sample's. */
  readonly createOrder?: LambdaHandler | undefined;
  /** `false` ends it at the outbox. */
  readonly withPayments: boolean;
}

export interface Played {
  readonly aws: Simulator;
  readonly gateway: Gateway;
  /** The last answer of each client, by key. */
  readonly answers: ReadonlyMap<string, readonly Answer[]>;
}

// As those that the library makes itself; made once, because that takes longer than a schedule.
const requestHandler = { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true };
const client = new DynamoDBClient({ requestHandler });
const sqs = new SQSClient({ requestHandler });

/** Clocks of hosts, ahead or behind: any two are within the 5 seconds of grace that leases have. */
const SKEWS_MS = [0, 300, -300, 2000, -2000];

const SWEEP_MS = 300_000;

/** So that every schedule comes to an end. */
const MOST_FAULTS = 12;

/** Each fourth schedule is of the whole chain, which takes twice as long as its first half. */
export function planOf(seed: number, withPayments = seed % 4 === 0): Plan {
  const random = new SeededRandom(`plan ${seed}`);
  return {
    seed,
    withPayments,
    faultRate: random.pick([0, 0.1, 0.2, 0.4]),
    keys: random.between(1, withPayments ? 2 : 3),
    deliveries: random.between(2, withPayments ? 3 : 5),
  };
}

export async function play(plan: Plan): Promise<Played> {
  const { seed, faultRate } = plan;
  const aws = new Simulator({ seed });
  const random = new SeededRandom(`world ${seed}`);
  const gateway = new Gateway(aws);
  const skewsMs = Array.from({ length: 4 }, () => random.pick(SKEWS_MS as [number]));
  aws.faults = randomFaults({ seed, rate: faultRate, most: MOST_FAULTS });
  createShop(aws);
  const createOrder = aws.lambda(plan.createOrder ?? createOrderHandler, {
    name: "create-order",
    timeoutSeconds: 10,
    skewsMs,
  });
  if (plan.withPayments) {
    aws.queue(PAYMENTS, { fifo: true, perGroup: true, visibilitySeconds: 60 });
    const senders = () => ({
      outbox: new DynamoDBOutbox({ tableName: "idempotency", client }),
      destinations: "any" as const,
      sqs,
      observe: () => {},
    });
    const relay = aws.lambdaPerEnvironment(() => outboxRelay(senders()), {
      name: "relay",
      timeoutSeconds: 20,
      concurrency: 1,
    });
    // What the relay could not send is the sweeper's.
    const sweeper = aws.lambdaPerEnvironment(() => outboxSweeper(senders()), {
      name: "sweeper",
      timeoutSeconds: 20,
      concurrency: 1,
    });
    aws.every(SWEEP_MS, sweeper);
    const charge = aws.lambda(chargePayment, {
      name: "charge-payment",
      timeoutSeconds: 10,
      skewsMs,
    });
    aws.connectTable(relay, { tableName: "idempotency", batchSize: random.pick([1, 3, 10]) });
    aws.connectQueue(charge, { queueUrl: process.env.PAYMENTS_QUEUE_URL!, batchSize: random.pick([1, 10]) });
  }
  const answers = await aws.run(async () => {
    const clients: OrderClient[] = [];
    for (let key = 1; key <= plan.keys; key++) {
      for (let delivery = 0; delivery < plan.deliveries; delivery++) {
        const startMs = random.pick([0, 0, 5, 30, 2000, 15_000]);
        clients.push(orderClient({ aws, fn: createOrder, key: `key-${key}`, startMs }));
      }
    }
    const ended = await Promise.all(clients.map((client) => client.run()));
    await aws.untilIdle();
    // What was frozen comes back, late.
    await aws.clock.sleep(1_200_000);
    await aws.untilIdle();
    return byKey(ended);
  });
  return { aws, gateway, answers };
}

function byKey(answers: readonly Answer[]): ReadonlyMap<string, readonly Answer[]> {
  const groups = new Map<string, Answer[]>();
  for (const answer of answers) groups.set(answer.key, [...(groups.get(answer.key) ?? []), answer]);
  return groups;
}
