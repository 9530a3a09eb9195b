// The sample's durable function on a local DynamoDB, in the test runner of the SDK: real waits, real replays. What the runner can't do:
// start executions by name, deliver events, and kill an invocation (test/durable does).
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { LocalDurableTestRunner } from "@aws/durable-execution-sdk-js-testing";
import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { newOrder } from "../../functions/order.ts";
import { connect, createOutboxTable, createTable, environmentFor } from "../kit/tables.ts";

const [engine] = inject("dynamodbEngines");

describe.skipIf(!engine)("fulfil-order", () => {
  const client = connect(engine?.endpoint ?? "");
  const charged: string[] = [];
  let gateway: Server;
  let handlerFunction: typeof import("../../functions/fulfil-order.ts").handler;
  let orders: string;
  let shipments: string;

  beforeAll(async () => {
    gateway = createServer((request, response) => {
      charged.push(`${request.headers["idempotency-key"]}`);
      response.writeHead(201).end(JSON.stringify({ chargeId: "charge-1" }));
    });
    await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
    orders = await createTable(client, "tenant", "id");
    shipments = await createTable(client, "tenant", "orderId");
    const environment = {
      ...environmentFor(engine?.endpoint ?? ""),
      ORDERS_TABLE: orders,
      SHIPMENTS_TABLE: shipments,
      IDEMPOTENCY_TABLE: await createOutboxTable(client),
      COOLING_OFF_SECONDS: "1",
      GATEWAY_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
      GATEWAY_TOKEN: "secret",
    };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    vi.stubEnv("AWS_REGION", "eu-central-1");
    ({ handler: handlerFunction } = await import("../../functions/fulfil-order.ts"));
    await LocalDurableTestRunner.setupTestEnvironment({ skipTime: false });
  });
  afterAll(async () => {
    await LocalDurableTestRunner.teardownTestEnvironment();
    vi.unstubAllEnvs();
    gateway?.close();
    client.destroy();
  });

  const fulfil = async (payload: object) => {
    const execution = await new LocalDurableTestRunner({ handlerFunction }).run({ payload });
    const isDone = execution.getStatus() === "SUCCEEDED";
    const end = isDone ? execution.getResult() : execution.getError()?.errorMessage;
    return [end, execution.getInvocations().length];
  };
  const read = async (TableName: string, key: object) => {
    const { Item } = await client.send(new GetItemCommand({ TableName, Key: marshall(key) }));
    return Item && unmarshall(Item);
  };

  it("charges, waits and ships, once for two deliveries", async () => {
    const order = newOrder({ sku: "tea", quantity: 2, card: "card_ok" }, "acme", "k");
    await client.send(new PutItemCommand({ TableName: orders, Item: marshall(order) }));
    const delivery = { tenant: "acme", orderId: order.id };

    expect([await fulfil(delivery), await fulfil(delivery)]).toEqual([
      [{ state: "shipped" }, 2],
      [{ state: "shipped" }, 1],
    ]);
    expect(charged).toHaveLength(1);
    expect(await read(orders, { tenant: "acme", id: order.id })).toMatchObject({ state: "paid" });
    expect(await read(shipments, delivery)).toMatchObject({ orderId: order.id });
  });

  it("fails for good for an order that doesn't exist", async () => {
    expect(await fulfil({ tenant: "acme", orderId: "none" })).toEqual(["the order does not exist", 1]);
    expect(charged).toHaveLength(1);
  });
});
