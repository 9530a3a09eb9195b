// The functions of the sample, with the worlds in which they are explored.
import "../../../../test/kit/shop/environment.ts";
import { outboxSweeper } from "onceonly/messaging";
import { getOrder, messages, postOrder } from "../../../../test/kit/shop/events.ts";
import { newRelay, outbox, relayed } from "../../../../test/kit/shop/relay-and-sweeper.ts";
import { explore } from "../../../explorer/lib/explorer/explore.ts";
import type { ExploreOptions } from "../../../explorer/lib/explorer/options.ts";
import type { ExploreReport } from "../../../explorer/lib/explorer/report.ts";
import { streamEvent } from "../../../explorer/lib/explorer/stream-event.ts";
import type { Simulator } from "../../../explorer/lib/simulator/simulator.ts";

export interface Sample {
  readonly name: string;
  /** What the page says about it. */
  readonly about: string;
  explore(): Promise<ExploreReport>;
}

const { handler: createOrder } = await import("../../../../functions/create-order.ts");
const { handler: chargePayment } = await import("../../../../functions/charge-payment.ts");
const { handler: getOrderOf } = await import("../../../../functions/get-order.ts");
const { handler: authorize } = await import("../../../../functions/authorize.ts");
const { handler: placeOrder } = await import("../../../../functions/place-order-saga.ts");
const { handler: chargeInSandbox } = await import("../../../../functions/sandbox-gateway.ts");

const newSweeper = () => outboxSweeper({ outbox, destinations: "any" });

const order = {
  tenant: { S: "acme" },
  id: { S: "order-1" },
  sku: { S: "tea" },
  quantity: { N: "2" },
  card: { S: "card_ok" },
  totalCents: { N: "500" },
  state: { S: "created" },
  idempotencyKey: { S: "order-key-1" },
  createdAt: { S: "2026-01-05T08:59:00.000Z" },
};

const shop: ExploreOptions = {
  tables: {
    orders: { partitionKey: "tenant", sortKey: "id" },
    payments: { partitionKey: "tenant", sortKey: "orderId" },
  },
  idempotencyTable: "idempotency",
  queues: { "payments.fifo": {} },
  timeoutSeconds: 10,
};

const putOrder = (aws: Simulator) => aws.dynamodb.call("PutItem", { TableName: "orders", Item: order });

/** Two orders are created, and their messages wait to be sent. */
async function commitTwo(aws: Simulator): Promise<void> {
  const fn = aws.lambda(createOrder, { name: "create-order" });
  for (const key of ["order-key-1", "order-key-2"]) {
    await fn.invoke(postOrder({ sku: "tea", quantity: 2 }, { "idempotency-key": key }));
  }
}

/** The gateway and the carrier: what is asked under one key is done once, and can be asked for. */
function saga(): ExploreOptions {
  const charged = new Set<string>();
  return {
    tables: { ...shop.tables, stock: { partitionKey: "sku" } },
    timeoutSeconds: 15,
    setUp: () => charged.clear(),
    outside: {
      "https://gateway.example.com": (request) => {
        const { pathname, searchParams } = new URL(request.url);
        if (request.method === "GET") {
          const isThere = charged.has(searchParams.get("key") ?? "");
          return Response.json({ charges: isThere ? [{ chargeId: "charge-1" }] : [] });
        }
        if (pathname === "/charges") charged.add(request.headers.get("idempotency-key") ?? "");
        return Response.json({ chargeId: "charge-1", refunded: true, shipped: true }, { status: 201 });
      },
    },
  };
}

export const SAMPLES: readonly Sample[] = [
  {
    name: "create-order",
    about:
      "`functions/create-order.ts`, as an HTTP client asks for it, with `outboxRelay` on the stream of its table, and `outboxSweeper` for what that leaves. Order, record and message commit together, and one message arrives in the queue.",
    explore: () =>
      explore(createOrder, postOrder(), {
        ...shop,
        name: "create-order",
        setUp: relayed,
      }),
  },
  {
    name: "charge-payment",
    about:
      "`functions/charge-payment.ts`, as the FIFO queue feeds it, with a payment gateway that keeps its promise: what is asked under one key is done once.",
    explore: () =>
      explore(
        chargePayment,
        messages("payments.fifo", [
          { body: { tenant: "acme", orderId: "order-1" }, group: "order-1", key: "order-1" },
        ]),
        {
          ...shop,
          name: "charge-payment",
          outside: {
            "https://gateway.example.com": () => Response.json({ chargeId: "charge-1" }, { status: 201 }),
          },
          setUp: putOrder,
        },
      ),
  },
  {
    name: "place-order-saga",
    about:
      "`functions/place-order-saga.ts`, one saga over two tables, a payment gateway and a carrier that keep their promises. If a charge's outcome is unknown, the gateway is asked.",
    explore: () => explore(placeOrder, postOrder(), { ...shop, ...saga(), name: "place-order-saga" }),
  },
  {
    name: "get-order",
    about: "`functions/get-order.ts`, which reads only.",
    explore: () =>
      explore(getOrderOf, getOrder("order-1"), {
        ...shop,
        name: "get-order",
        setUp: putOrder,
      }),
  },
  {
    name: "authorize",
    about:
      "`functions/authorize.ts`, which makes no request at all: it answers the same, however often it is asked.",
    explore: () =>
      explore(
        authorize,
        { headers: { authorization: "Bearer acme-token" } },
        { name: "authorize", source: "invoke", expectsNoRequest: true },
      ),
  },
  {
    name: "sandbox-gateway",
    about:
      "`functions/sandbox-gateway.ts`, the other system of the demo, without onceonly: it charges once per key by conditions of its own. That it counts the attempts at a key is what its ledger is for.",
    explore: () =>
      explore(
        chargeInSandbox,
        postOrder(
          { orderId: "order-1", amountCents: 500, card: "card_ok" },
          { "idempotency-key": "charge-1" },
        ),
        {
          name: "sandbox-gateway",
          tables: { ledger: { partitionKey: "idempotencyKey" } },
          ignore: ["attempts"],
          timeoutSeconds: 10,
        },
      ),
  },
  {
    name: "outbox-relay",
    about:
      "`outboxRelay`, as the stream of the table feeds it, with the messages of two commits, and `outboxSweeper` where it left some.",
    explore: () =>
      explore(newRelay, (aws: Simulator) => streamEvent(aws, "idempotency"), {
        ...shop,
        name: "outbox-relay",
        perEnvironment: true,
        timeoutSeconds: 900,
        setUp: commitTwo,
      }),
  },
  {
    name: "outbox-sweeper",
    about: "`outboxSweeper`, on its schedule, with the messages of two commits that no relay has sent.",
    explore: () =>
      explore(
        newSweeper,
        {},
        {
          ...shop,
          name: "outbox-sweeper",
          perEnvironment: true,
          source: "schedule",
          setUp: async (aws) => {
            await commitTwo(aws);
            await aws.clock.sleep(120_000);
          },
        },
      ),
  },
];
