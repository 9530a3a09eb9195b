import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBOutbox } from "onceonly/dynamodb";
import { outboxRelay, outboxSweeper } from "onceonly/messaging";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { PAYMENTS } from "../../../../test/kit/shop/environment.ts";
import { Gateway } from "../../../../test/kit/shop/gateway.ts";
import { orderEvent } from "../../../../test/kit/shop/order-client.ts";
import type { Fault } from "../../lib/simulator/fault.ts";
import { faultsOn, givenAws, MINUTE, rowsOf } from "./given.ts";

const { handler: createOrder } = await import("../../../../functions/create-order.ts");
const { handler: chargePayment } = await import("../../../../functions/charge-payment.ts");

beforeAll(() => {
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
});

afterAll(() => {
  vi.restoreAllMocks();
});

const outbox = new DynamoDBOutbox({ tableName: "idempotency", client: new DynamoDBClient() });
const senders = { outbox, destinations: "any", sqs: new SQSClient() } as const;

function givenPayments() {
  const aws = givenAws();
  const gateway = new Gateway(aws);
  const queueUrl = aws.queue(PAYMENTS, { perGroup: true, visibilitySeconds: 60 });
  const order = aws.lambda(createOrder, { name: "create-order" });
  const charge = aws.lambda(chargePayment, { name: "charge-payment", timeoutSeconds: 10 });
  aws.connectQueue(charge, { queueUrl });
  return { aws, gateway, order };
}

describe("the relay", () => {
  const faultsOfRelay: readonly Fault[] = [
    { kind: "crash", when: "before" },
    { kind: "crash", when: "after" },
    { kind: "lost-answer" },
    { kind: "freeze", when: "after", ms: 10 * MINUTE },
  ];

  it("H33: whatever happens at any of its I/Os, an order is paid once", async () => {
    let points = 0;
    for (const fault of faultsOfRelay) {
      for (let point = 1; ; point++) {
        const { aws, gateway, order } = givenPayments();
        const relay = aws.lambdaPerEnvironment(() => outboxRelay(senders), { name: "relay" });
        aws.connectTable(relay, { tableName: "idempotency" });
        let seen = 0;
        aws.faults = ({ hostId }) => (hostId.startsWith("relay") && ++seen === point ? fault : undefined);

        await aws.run(async () => {
          await order.invoke(orderEvent("k"));
          await aws.untilIdle();
          await aws.clock.sleep(20 * MINUTE);
        });

        expect([point, gateway.charges.size, (await rowsOf(aws, "payments")).length]).toEqual([point, 1, 1]);
        if (seen < point) break;
        points++;
      }
    }
    expect(points).toBeGreaterThanOrEqual(8);
  });
});

describe("the sweeper", () => {
  it("H34: sends messages that a stream without readers has lost after a day", async () => {
    const { aws, gateway, order } = givenPayments();
    const sweeper = aws.lambda(outboxSweeper(senders), { name: "sweeper" });

    await aws.run(async () => {
      await order.invoke(orderEvent("k"));
      await aws.clock.sleep(25 * 60 * MINUTE);
      expect(gateway.charges.size).toBe(0);
      aws.connectTable(aws.lambda(outboxRelay(senders), { name: "relay" }), { tableName: "idempotency" });
      await aws.untilIdle();
      expect(gateway.charges.size).toBe(0);
      aws.every(MINUTE, sweeper);
      await aws.clock.sleep(3 * MINUTE);
    });

    expect(gateway.charges.size).toBe(1);
    expect(await rowsOf(aws, "payments")).toHaveLength(1);
  });
});

describe("a payment", () => {
  it("is charged once when the gateway's response is lost, and when the environment dies after it", async () => {
    for (const fault of [{ kind: "lost-answer" }, { kind: "crash", when: "after" }] as const) {
      const { aws, gateway, order } = givenPayments();
      aws.connectTable(aws.lambda(outboxRelay(senders), { name: "relay" }), { tableName: "idempotency" });
      aws.faults = faultsOn(({ service }) => service === "http", fault);

      await aws.run(async () => {
        await order.invoke(orderEvent("k"));
        await aws.untilIdle();
      });

      const asked = aws.trace.filter(({ io }) => io?.service === "http");
      expect([fault.kind, asked.length, gateway.charges.size]).toEqual([fault.kind, 2, 1]);
      expect(await rowsOf(aws, "payments")).toHaveLength(1);
    }
  });
});
