// A green verdict is about work that was done: an exploration in which the handler did nothing is refused.
import "../../../../test/kit/shop/environment.ts";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { callerFromJwt, httpIdempotent, idempotent, idempotentBatch } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { getOrder, messages, postOrder } from "../../../../test/kit/shop/events.ts";
import { explore } from "../../lib/explorer/explore.ts";
import { exactlyOnceMatchers } from "../../lib/explorer/matchers.ts";
import type { ExploreOptions } from "../../lib/explorer/options.ts";
import type { LambdaHandler } from "../../lib/simulator/simulated-function.ts";
import { shop } from "./seeded-bugs/control.ts";

expect.extend(exactlyOnceMatchers);

const store = new DynamoDBStore({ tableName: "idempotency" });
const http = { operation: "create-order", store, scope: "public" } as const;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());
const put = (id: string) =>
  database.send(new PutCommand({ TableName: "orders", Item: { tenant: "acme", id } }));
const find = (id: string) =>
  database.send(new GetCommand({ TableName: "orders", Key: { tenant: "acme", id }, ConsistentRead: true }));

const creating: LambdaHandler = httpIdempotent<unknown, { body: string }, DynamoDBWrite>(
  async ({ body }, { idempotency }) => {
    if (body === "{}") return { statusCode: 422, body: '{"message":"no sku"}' };
    const Put = { TableName: "orders", Item: { tenant: "acme", id: "order-1" } };
    return idempotency.commit({ statusCode: 201, body: "created" }, { writes: [{ Put }] });
  },
  http,
);
const withoutKey = postOrder({}, { "idempotency-key": undefined });
const forOthers = httpIdempotent(async () => ({ statusCode: 201 }), { ...http, scope: callerFromJwt() });
const router = async ({ rawPath }: { rawPath: string }) => {
  if (rawPath !== "/payments") return { statusCode: 404, body: "no route" };
  await put("payment");
  return { statusCode: 201 };
};
const inMemory = httpIdempotent(async () => ({ statusCode: 201 }), { ...http, store: new MemoryStore() });
const plainAnswer = async () => ({ ok: (await find("a")).Item === undefined });
const restEvent = {
  httpMethod: "POST",
  path: "/orders",
  headers: {},
  requestContext: { requestId: "1" },
  body: "{}",
};
const refusesAll = idempotentBatch(
  async () => {
    throw new Error("no such order");
  },
  { operation: "charge", store },
);
const returnsAll = async ({ Records }: { Records: { messageId: string }[] }) => {
  const batchItemFailures = Records.map(({ messageId }) => ({ itemIdentifier: messageId }));
  return { batchItemFailures };
};
const batch = messages("jobs", [{ body: { id: "a" } }, { body: { id: "b" } }]);

describe("explore", () => {
  it.each<[string, LambdaHandler, unknown, ExploreOptions, string]>([
    [
      "without a key",
      creating,
      withoutKey,
      {},
      "responds with 400 without any disturbance, so its work wouldn't be",
    ],
    ["without a caller", forOthers, postOrder(), {}, "responds with 403 without any disturbance"],
    [
      "with an invalid body",
      creating,
      postOrder({}),
      {},
      `responds with 422 without any disturbance, so its work wouldn't be explored: {"message":"no sku"}`,
    ],
    ["without a route", router, postOrder(), {}, 'explored: "no route"'],
    [
      "without a method, which counts as an invocation",
      async () => ({ statusCode: 400 }),
      { headers: {}, body: "{}" },
      {},
      "responds with 400 without any disturbance",
    ],
    [
      "on a schedule, answered 500",
      async () => ({ statusCode: 500 }),
      {},
      { source: "schedule" },
      "responds with 500 without any disturbance",
    ],
    [
      "with another answer than expected",
      creating,
      postOrder(),
      { expectedStatus: 200 },
      "responds with 201 without any disturbance, instead of the expected 200",
    ],
    [
      "without any status, where one is expected",
      async () => void (await put("a")),
      {},
      { expectedStatus: 200 },
      "responds with no status without any disturbance, instead of",
    ],
    [
      "for a store that the explorer does not see",
      inMemory,
      postOrder(),
      {},
      "makes no request without any disturbance, so there is nothing to explore: answer 201",
    ],
    [
      "for a REST API, with an answer that has no status",
      plainAnswer,
      restEvent,
      {},
      'fails without any disturbance: answer 502: "the handler returned no statusCode"',
    ],
    [
      "whose records fail, without a reason",
      returnsAll,
      batch,
      {},
      "fails without any disturbance: 2 of 2 records returned",
    ],
    [
      "whose every record fails",
      refusesAll,
      batch,
      {},
      "fails without any disturbance: the function threw BATCH_NOT_DONE",
    ],
    [
      "whose records fail, where nobody reads that",
      returnsAll,
      batch,
      { reportsItemFailures: false },
      "reports failed records without any disturbance, but its source doesn't read them",
    ],
  ])("refuses an event %s", async (_, handler, event, options, text) => {
    await expect(explore(handler, event, { ...shop, ...options })).rejects.toThrow(text);
  });

  it("explains how to expect a response that refuses", async () => {
    await expect(explore(creating, postOrder({}), shop)).rejects.toThrow(
      "to explore this response, set expectedStatus: 422",
    );
  });

  it("counts no row of setUp as work that was done", async () => {
    const setUp = () => put("order-0");

    await expect(explore(inMemory, postOrder(), { ...shop, setUp })).rejects.toThrow("makes no request");
  });

  it("explores an expected 404, and reports the response", async () => {
    const handler = async () => ({ statusCode: (await find("a")).Item ? 200 : 404, body: "no order" });

    const report = await explore(handler, getOrder("a"), { ...shop, expectedStatus: 404 });

    expect(report).toBeExactlyOnce();
    expect(String(report)).toContain("undisturbed: answer 404; no effect");
  });

  it("treats an expected 409 as final, and one with Retry-After as a live claim", async () => {
    const handler = httpIdempotent<unknown, { body: string }, DynamoDBWrite>(async (_, { idempotency }) => {
      const Put = { TableName: "orders", Item: { tenant: "acme", id: "refusal" } };
      return idempotency.commit({ statusCode: 409, body: "cancelled before" }, { writes: [{ Put }] });
    }, http);

    const report = await explore(handler, postOrder(), { ...shop, expectedStatus: 409 });

    expect(report).toBeExactlyOnce();
    expect(report.undisturbed).toBe("answer 409; 1 item in orders");
  });

  it("explores a handler that makes no request, if declared", async () => {
    const handler = async () => ({ statusCode: 200 });

    expect(await explore(handler, getOrder("a"), { expectsNoRequest: true })).toBeExactlyOnce();
    expect(await explore(async () => undefined, {}, { expectsNoRequest: true })).toBeExactlyOnce();
  });

  it("reports the work of a handler that never responds", async () => {
    const handler = idempotent<unknown, object, DynamoDBWrite>(
      async (_, { idempotency }) => {
        const Put = { TableName: "orders", Item: { tenant: "acme", id: "a" } };
        await idempotency.commit(null, { writes: [{ Put }] });
      },
      { operation: "store", store, key: () => "a" },
    );

    const report = await explore(handler, {}, { ...shop, only: "duplicate-afterwards" });

    expect(report.undisturbed).toBe("returned; 1 item in orders");
  });
});

describe("S1: messages that nothing sends", () => {
  const handler = idempotent(
    async ({ id }: { id: string }, { idempotency }) =>
      idempotency.commit("ok", {
        messages: [
          { queue: "https://sqs.eu-central-1.amazonaws.com/111111111111/mails", key: id, body: { id } },
        ],
      }),
    { operation: "order", store, key: ({ id }) => id },
  );

  it("are named next to the result, since nothing of their delivery was explored", async () => {
    const report = await explore(
      handler,
      { id: "1" },
      { name: "order", idempotencyTable: "idempotency", maxRuns: 3 },
    );

    expect(report.undisturbed).toBe(
      "returned; committed messages that no relay sends: explore it with a relay, and deploy one",
    );
  });
});

it("S1: a status may be text, as API Gateway accepts it", async () => {
  const answer = async () => {
    await put("1");
    return { statusCode: "201", body: "{}" };
  };
  const event = {
    version: "2.0",
    rawPath: "/orders",
    headers: {},
    requestContext: { http: { method: "POST" } },
  };

  const report = await explore(answer, event, {
    name: "order",
    tables: { orders: { partitionKey: "tenant", sortKey: "id" } },
    maxRuns: 3,
  });

  expect(report.undisturbed).toBe("answer 201; 1 item in orders");
});
