import { ScanCommand } from "@aws-sdk/client-dynamodb";
import type { SQSRecord } from "aws-lambda";
import { idempotentBatch, type WithIdempotency } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { beforeAll, describe, expect, inject, it, vi } from "vitest";
import { connect, createTable } from "../../kit/tables.ts";
import { answered, fifoRecord, givenBatch, returned, sqsRecord } from "./given.ts";

describe.each(inject("dynamodbEngines"))("idempotentBatch on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let tableName: string;
  beforeAll(async () => {
    tableName = await createTable(client);
  });

  it("H26: commits each payment once and in the order of its group, over failures and redeliveries", async () => {
    const { options, context } = givenBatch();
    // The real time: the engine's clock is compared with it.
    const { clock: _, random: __, ...rest } = options;
    const store = new DynamoDBStore({ tableName, client });
    const log: string[] = [];
    let calls = 0;
    const handler = idempotentBatch(
      async ({ body }: SQSRecord, { idempotency }) => {
        calls += 1;
        if (calls % 3 === 0) throw new Error("every third time");
        const Item = { pk: `payment ${body}`, amount: calls };
        const ConditionExpression = "attribute_not_exists(pk)";
        await idempotency.commit(body, {
          writes: [{ Put: { TableName: tableName, Item, ConditionExpression } }],
        });
        log.push(body);
      },
      { ...rest, store, leaseSeconds: 30 },
    );
    const Records = ["a1", "b1", "a2", "b2", "a3", "b3"].map((id) => fifoRecord(id, id[0] as string));
    let left: readonly unknown[] = Records.map(({ messageId }) => messageId);
    for (let delivery = 0; delivery < 10 && left.length > 0; delivery++) {
      const batch = Records.filter(({ messageId }) => left.includes(messageId));
      left = returned(await answered(handler({ Records: batch }, context())));
    }
    const redelivered = await handler({ Records }, context());

    expect([left, returned(redelivered)]).toEqual([[], []]);
    expect(log.filter((body) => body.includes("of a"))).toEqual(
      ["a1", "a2", "a3"].map((id) => `body of ${id}`),
    );
    expect(log.filter((body) => body.includes("of b"))).toEqual(
      ["b1", "b2", "b3"].map((id) => `body of ${id}`),
    );
  });

  it("answers 10: treats a record as done whatever its handler returns, and stores nothing of that", async () => {
    const { options, context, errors, decisions } = givenBatch();
    const { clock: _, random: __, ...rest } = options;
    const store = new DynamoDBStore({ tableName, client });
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const values: Record<string, unknown> = {
      response: new Response("paid"),
      bigint: 1n,
      circular,
      symbol: Symbol("paid"),
      map: new Map(),
      secret: "canary-4711",
      large: "x".repeat(600_000),
      hostile: { toJSON: () => expect.unreachable() },
    };
    const run = vi.fn(({ messageId }: SQSRecord) => values[messageId]);
    const handler = idempotentBatch(run, { ...rest, operation: "any value", store, leaseSeconds: 30 });
    const Records = Object.keys(values).map((id) => sqsRecord(id));

    for (let delivery = 0; delivery < 2; delivery++)
      expect(returned(await answered(handler({ Records }, context())))).toEqual([]);

    expect(run).toHaveBeenCalledTimes(Records.length);
    expect(errors).toEqual([]);
    expect(decisions().filter((decision) => decision === "replayed")).toHaveLength(Records.length);
    const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName }));
    const stored = Items.filter(({ pk }) => pk?.S?.startsWith("any value"));
    expect(stored).toHaveLength(Records.length);
    expect(stored.filter((item) => "result" in item || "resultItem" in item)).toEqual([]);
  });

  it("stores what a record's handler commits, and returns a record that commits something other than JSON", async () => {
    const { options, context, errors } = givenBatch();
    const { clock: _, random: __, ...rest } = options;
    const store = new DynamoDBStore({ tableName, client });
    const run = vi.fn(({ body }: SQSRecord, { idempotency }: WithIdempotency) =>
      idempotency.commit(body === "whole" ? { paid: 1 } : 1n),
    );
    const handler = idempotentBatch(run, { ...rest, operation: "committing", store, leaseSeconds: 30 });
    const Records = [sqsRecord("m1", "whole"), sqsRecord("m2", "broken")];

    for (let delivery = 0; delivery < 2; delivery++)
      expect(returned(await answered(handler({ Records }, context())))).toEqual(["m2"]);

    expect(run).toHaveBeenCalledTimes(2);
    expect(errors).toEqual(Array(2).fill(expect.objectContaining({ code: "RESPONSE_NOT_STORABLE" })));
    const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName }));
    const results = Items.filter(({ pk }) => pk?.S?.startsWith("committing")).map(({ result }) => result?.S);
    expect(results).toEqual(expect.arrayContaining(['{"paid":1}']));
  });

  it("asks `shouldStore` about the handler's result, and releases one that isn't final", async () => {
    const { options, context } = givenBatch();
    const { clock: _, random: __, ...rest } = options;
    const run = vi.fn(() => 1n);
    const handler = idempotentBatch(run, {
      ...rest,
      operation: "asked",
      store: new DynamoDBStore({ tableName, client }),
      leaseSeconds: 30,
      shouldStore: (result) => result !== 1n,
    });

    for (let delivery = 0; delivery < 2; delivery++)
      expect(returned(await answered(handler({ Records: [sqsRecord("m1")] }, context())))).toEqual([]);

    expect(run).toHaveBeenCalledTimes(2);
  });
});
