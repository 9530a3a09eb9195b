// The saga of the sample, as `npm start` runs it: on local engines, asked over HTTP.
import { randomUUID } from "node:crypto";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { DEMO_TOKENS } from "../../bin/demo-tokens.ts";
import { type RunningStack, startStack } from "../../packages/local/lib/index.ts";
import { sampleAssembly } from "../kit/sample-assembly.ts";

let stack: RunningStack;
let client: DynamoDBClient;

beforeAll(async () => {
  const dynamodbEndpoint = inject("dynamodbEngines")[0]?.endpoint;
  stack = await startStack({ folder: await sampleAssembly(), dynamodbEndpoint });
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  client = new DynamoDBClient({ endpoint: stack.endpoints.dynamodb, region: "us-east-1", credentials });
});
afterAll(async () => {
  client?.destroy();
  await stack?.stop();
});

async function rowsOf(table: string): Promise<Record<string, unknown>[]> {
  const { Items = [] } = await client.send(
    new ScanCommand({ TableName: stack.tables[table]?.name, ConsistentRead: true }),
  );
  return Items.map((item) => unmarshall(item));
}

async function place(key: string, sku: string, card = "card_ok") {
  const response = await fetch(`${stack.url}/shipped-orders`, {
    method: "POST",
    headers: { authorization: `Bearer ${DEMO_TOKENS.acme}`, "idempotency-key": key },
    body: JSON.stringify({ sku, quantity: 3, card }),
  });
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, replayed: response.headers.has("idempotent-replayed"), body };
}

/** What is left of a saga in the shop, at the gateway and at the carrier. */
async function leftBy(key: string, sku: string) {
  const [order, ...others] = (await rowsOf("Orders")).filter((row) => row.idempotencyKey === key);
  const ledger = (await rowsOf("Ledger")).filter((row) => row.orderId === order?.id);
  const charges = ledger.filter(({ chargeId }) => chargeId);
  return {
    orders: others.length + 1,
    state: order?.state,
    reserved: (await rowsOf("Stock")).find((row) => row.sku === sku)?.reserved,
    charges: charges.length,
    refunds: charges.filter(({ refundedBy }) => refundedBy).length,
    shipments: ledger.filter(({ shipped }) => shipped).length,
  };
}

describe("place-order-saga", () => {
  it("places, charges and ships an order once, however often it is asked", async () => {
    const key = randomUUID();

    const atOnce = await Promise.all(Array.from({ length: 8 }, () => place(key, "saga-tea")));
    const later = await place(key, "saga-tea");

    expect(later).toMatchObject({ status: 201, replayed: true });
    // A duplicate waits 3 s for the saga. A busy machine takes longer, and the duplicate is refused then.
    const refused = atOnce.filter(({ body }) => body.code === "EXECUTION_IN_PROGRESS");
    const placed = atOnce.filter((answer) => !refused.includes(answer));
    expect(new Set(placed.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(placed.map(({ body }) => body.id))).toEqual(new Set([later.body.id]));
    expect(placed.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await leftBy(key, "saga-tea")).toEqual({
      orders: 1,
      state: "paid",
      reserved: 3,
      charges: 1,
      refunds: 0,
      shipments: 1,
    });
  });

  it("H53: cancels, refunds and releases an order that can't be shipped, and answers each time the same", async () => {
    const key = randomUUID();

    const [first, second] = [await place(key, "anvil"), await place(key, "anvil")];

    expect(first.status).toBe(409);
    expect(first.body).toMatchObject({
      detail: expect.stringContaining(
        "place-order failed at step ship; the steps before it have been compensated",
      ),
    });
    expect(second).toEqual(first);
    expect(await leftBy(key, "anvil")).toEqual({
      orders: 1,
      state: "canceled",
      reserved: 0,
      charges: 1,
      refunds: 1,
      shipments: 0,
    });
  });

  it("undoes the earlier steps before a card is declined, and refunds nothing", async () => {
    const key = randomUUID();

    expect((await place(key, "saga-coffee", "card_declined")).status).toBe(409);

    expect(await leftBy(key, "saga-coffee")).toEqual({
      orders: 1,
      state: "canceled",
      reserved: 0,
      charges: 0,
      refunds: 0,
      shipments: 0,
    });
  });

  it("H42: holds an order whose charge is unknown, and doesn't charge it a second time", async () => {
    const key = randomUUID();

    const first = await place(key, "saga-lost", "card_answer_lost");
    const second = await place(key, "saga-lost", "card_answer_lost");

    expect(first.status).toBe(500);
    expect(second).toMatchObject({ status: 409, body: { code: "OUTCOME_UNKNOWN" } });
    expect(await leftBy(key, "saga-lost")).toMatchObject({
      state: "created",
      reserved: 3,
      charges: 1,
      refunds: 0,
    });
  });
});
