// The sample's durable function on a local DynamoDB, in the test runner of the SDK: real waits, real replays. The runner can't start
// executions by name, deliver events or kill an invocation. test/durable does the first and the last in memory, and
// start-fulfilment.test.ts starts them on a Lambda client that keeps their names.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { LocalDurableTestRunner } from "@aws/durable-execution-sdk-js-testing";
import { GetItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
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
    gateway = createServer(async (request, response) => {
      const { card } = JSON.parse(await text(request));
      if (card === "card_declined")
        return response.writeHead(402).end(JSON.stringify({ reason: "declined" }));
      charged.push(`${request.headers["idempotency-key"]}`);
      return response.writeHead(201).end(JSON.stringify({ chargeId: "charge-1" }));
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

  const fulfil = async (key: string, card: string) => {
    const payload = { tenant: "acme", key, request: { sku: "tea", quantity: 2, card } };
    const execution = await new LocalDurableTestRunner({ handlerFunction }).run({ payload });
    return [execution.getResult() as { orderId: string; state: string }, execution.getInvocations().length];
  };
  const read = async (TableName: string, key: object) => {
    const { Item } = await client.send(new GetItemCommand({ TableName, Key: marshall(key) }));
    return Item && unmarshall(Item);
  };
  const countIn = async (TableName: string) =>
    (await client.send(new ScanCommand({ TableName, Select: "COUNT" }))).Count;

  it("places, charges, waits and ships, once for two executions", async () => {
    const [[first, invocations], [second, others]] = [
      await fulfil("k1", "card_ok"),
      await fulfil("k1", "card_ok"),
    ];

    expect([first, invocations, second, others]).toEqual([
      { orderId: expect.any(String), state: "shipped" },
      2,
      first,
      1,
    ]);
    const { orderId } = first as { orderId: string };
    expect(charged).toHaveLength(1);
    expect(await read(orders, { tenant: "acme", id: orderId })).toMatchObject({
      state: "paid",
      idempotencyKey: "k1",
    });
    expect(await read(shipments, { tenant: "acme", orderId })).toMatchObject({ orderId });
  });

  it("ends without a shipment if the card is declined", async () => {
    const [[ended, invocations], before] = [await fulfil("k2", "card_declined"), await countIn(shipments)];

    expect([ended, invocations, before]).toEqual([{ orderId: expect.any(String), state: "declined" }, 1, 1]);
  });
});
