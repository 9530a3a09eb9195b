// What is right passes: a finding in one of these is the explorer's own defect.
import "../../../../test/kit/shop/environment.ts";
import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSRecord } from "aws-lambda";
import { httpIdempotent, idempotent, idempotentBatch } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { describe, expect, it } from "vitest";
import { getOrder, type HttpEvent, messages, postOrder } from "../../../../test/kit/shop/events.ts";
import { explore } from "../../lib/explorer/explore.ts";
import type { LambdaHandler } from "../../lib/simulator/simulated-function.ts";
import { created, gateway, putRow, shop } from "./seeded-bugs/control.ts";

const database = DynamoDBDocumentClient.from(new DynamoDBClient());
const store = new DynamoDBStore({ tableName: "idempotency" });
const put = (content: object): DynamoDBWrite => ({
  Put: { TableName: "orders", Item: { tenant: "acme", ...content } },
});
const http = { operation: "create-order", store, scope: "public" } as const;

const creating = httpIdempotent<unknown, HttpEvent, DynamoDBWrite>;
async function createOne(_: HttpEvent, { idempotency }: { idempotency: { commit: CommitLike } }) {
  const order = { id: randomUUID(), at: Date.now(), number: Math.random() };
  return idempotency.commit({ statusCode: 201, body: JSON.stringify(order) }, { writes: [put(order)] });
}
type CommitLike = (result: unknown, effects: { writes: DynamoDBWrite[] }) => Promise<unknown>;

const correct: readonly (readonly [string, LambdaHandler, unknown])[] = [
  ["is optimistic", creating(createOne, { ...http, mode: "optimistic" }), postOrder()],
  [
    "waits for the winner",
    creating(createOne, { ...http, whenInProgress: { waitSeconds: 10 } }),
    postOrder(),
  ],
  [
    "keeps a large result",
    creating(
      async (_event, { idempotency }) =>
        idempotency.commit(
          { statusCode: 200, body: "0123456789abcdef".repeat(4000) + randomUUID() },
          { writes: [put({ id: "large" })] },
        ),
      http,
    ),
    postOrder(),
  ],
  [
    "consumes several messages of a standard queue",
    idempotentBatch<SQSRecord, DynamoDBWrite>(
      async ({ body }, { idempotency }) =>
        idempotency.commit(null, { writes: [put({ id: JSON.parse(body).orderId, at: Date.now() })] }),
      { operation: "store-order", store },
    ),
    messages("orders", [{ body: { orderId: "a" } }, { body: { orderId: "b" } }]),
  ],
  [
    "consumes a group of a FIFO queue, each message building on the one before",
    idempotentBatch<SQSRecord, DynamoDBWrite>(
      async ({ body }, { idempotency }) => {
        const { orderId, state } = JSON.parse(body);
        const Key = { tenant: "acme", id: orderId };
        const { Item } = await database.send(
          new GetCommand({ TableName: "orders", Key, ConsistentRead: true }),
        );
        return idempotency.commit(null, {
          writes: [put({ id: orderId, states: [...(Item?.states ?? []), state] })],
        });
      },
      { operation: "set-state", store },
    ),
    messages("states.fifo", [
      { body: { orderId: "a", state: "paid" }, group: "a" },
      { body: { orderId: "a", state: "sent" }, group: "a" },
    ]),
  ],
  [
    "writes under a key of its own, the same each time",
    async (event: HttpEvent) => {
      const id = event.headers["idempotency-key"];
      await database.send(new PutCommand({ TableName: "orders", Item: { tenant: "acme", id } }));
      return { statusCode: 201, body: JSON.stringify({ id }) };
    },
    postOrder(),
  ],
  [
    "reads with eventual consistency what was there before",
    async () => {
      const { Items } = await database.send(
        new QueryCommand({
          TableName: "orders",
          KeyConditionExpression: "tenant = :tenant",
          ExpressionAttributeValues: { ":tenant": "acme" },
        }),
      );
      return { statusCode: 200, body: JSON.stringify(Items) };
    },
    getOrder("order-0"),
  ],
];

const setUp = putRow({ tenant: "acme", id: "order-0", state: "created" });

describe("explore", () => {
  it.each(correct)("finds nothing in a handler that %s", async (_, handler, event) => {
    expect(await explore(handler, event, { ...shop, setUp })).toBeExactlyOnce();
  });

  it("reports an attribute that counts attempts, unless it is ignored", async () => {
    const handler = idempotent<unknown, { id: string }, DynamoDBWrite>(
      async ({ id }, { idempotency }) =>
        idempotency.commit({ id }, { writes: [put({ id, attempt: idempotency.attempt })] }),
      { operation: "count", store, key: ({ id }) => id },
    );

    const strict = await explore(handler, { id: "a" }, { ...shop, only: "1 crash-after" });
    const lenient = await explore(handler, { id: "a" }, { ...shop, ignore: ["attempt"] });

    expect(strict.findings[0]?.what).toBe("attempt is 2 instead of 1 in an item in orders");
    expect(lenient).toBeExactlyOnce();
  });

  it("reports a time in the response, unless it is ignored", async () => {
    const handler = async () => ({ statusCode: 200, body: JSON.stringify({ at: Date.now() }) });

    const options = { ...shop, expectsNoRequest: true };
    const strict = await explore(handler, getOrder("a"), options);
    const lenient = await explore(handler, getOrder("a"), { ...options, ignore: ["at"] });

    expect(strict.findings.map(({ kind }) => kind)).toContain("answer-differs");
    expect(lenient).toBeExactlyOnce();
  });

  it("accepts calls that happen at least once if declared, and reports it", async () => {
    const handler = idempotent(
      async ({ id }: { id: string }) => {
        const answer = await fetch("https://mail.example.com/send", { method: "POST", body: id });
        if (!answer.ok) throw new Error(`the mail service answered ${answer.status}`);
        return id;
      },
      { operation: "mail", store, key: ({ id }) => id },
    );
    const options = { ...shop, outside: { ...gateway, "https://mail.example.com": created } };

    const report = await explore(
      handler,
      { id: "a" },
      { ...options, atLeastOnce: ["https://mail.example.com/"] },
    );
    const elsewhere = await explore(
      handler,
      { id: "a" },
      { ...options, atLeastOnce: ["https://gateway.example.com"], only: "2 crash-after" },
    );

    expect(report).toBeExactlyOnce();
    expect(report.accepted).toMatchObject([{ call: "POST https://mail.example.com/send", most: 2 }]);
    expect(String(report)).toContain(
      "accepted as at least once: POST https://mail.example.com/send, up to 2 times",
    );
    expect(elsewhere).not.toBeExactlyOnce();
  });

  it("counts accepted effects to the end, including the repetition afterwards", async () => {
    const handler = async () => void (await fetch("https://mail.example.com/send", { method: "POST" }));
    const options = { outside: { "https://mail.example.com": created }, only: "duplicate-afterwards" };

    const report = await explore(handler, {}, { ...options, atLeastOnce: ["https://mail.example.com/"] });

    expect(report.accepted).toMatchObject([{ most: 2 }]);
  });
});
