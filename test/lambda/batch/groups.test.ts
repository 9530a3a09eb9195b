// Records that run at once ask DynamoDB together: how often, and what becomes of the others where one is refused.

import {
  type BatchExecuteStatementCommand,
  DynamoDBClient,
  GetItemCommand,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import type { SQSRecord } from "aws-lambda";
import {
  type BatchOptions,
  idempotentBatch,
  isOnceonlyError,
  type TransactionConditionError,
  type WithIdempotency,
} from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { cached } from "onceonly/stores";
import { beforeEach, describe, expect, inject, it } from "vitest";
import { DynamoDBModel } from "../../../packages/explorer/lib/aws/dynamodb/dynamodb-model.ts";
import { countRequests } from "../../kit/counting-client.ts";
import { aroundRequests } from "../../kit/faults/around-requests.ts";
import { clientError, failWith, loseAnswers } from "../../kit/faults/faulty-client.ts";
import { connect, createTable } from "../../kit/tables.ts";
import { answered, fifoRecord, givenBatch, returned, sqsRecord } from "./given.ts";

type Handler = (record: SQSRecord, context: WithIdempotency<DynamoDBWrite>) => unknown;

/** dynoxide knows no update of two attributes by a statement: what it is asked for then has tests below. */
const LOCAL = inject("everyDynamodbEngine").filter(({ name }) => name !== "dynoxide");
const SUBJECTS = [
  ...LOCAL.map(({ name, endpoint }) => ({ name, newClient: () => connect(endpoint) })),
  { name: "the model", newClient: () => new DynamoDBClient(new DynamoDBModel().clientConfig()) },
];

describe.each(SUBJECTS)("idempotentBatch in groups on $name", ({ newClient }) => {
  let client: DynamoDBClient;
  let records: string;
  let orders: string;
  let counts: ReturnType<typeof countRequests>;
  let given: ReturnType<typeof givenBatch>;

  beforeEach(async () => {
    client = newClient();
    [records, orders] = [await createTable(client), await createTable(client, "id")];
    counts = countRequests(client);
    given = givenBatch();
  });

  function batch(handler: Handler, more: Partial<BatchOptions<SQSRecord, DynamoDBWrite>> = {}) {
    const { clock: _, random: __, store: ___, ...options } = given.options;
    const run = idempotentBatch<SQSRecord, DynamoDBWrite>(handler, {
      ...options,
      store: new DynamoDBStore({ tableName: records, client }),
      leaseSeconds: 30,
      ...more,
    });
    return async (...Records: readonly SQSRecord[]) => {
      counts.reset();
      return returned(await answered(run({ Records }, given.context())));
    };
  }

  /** Transactions of more than one commit have no answer, and arrive when their copies are called. */
  function holdUpTransactions() {
    const late: (() => Promise<unknown>)[] = [];
    aroundRequests(
      client,
      async ({ command, input, send }) => {
        const { TransactItems = [] } = input as Partial<TransactWriteItemsCommand["input"]>;
        if (command !== "TransactWriteItems" || TransactItems.length <= 2) return send();
        late.push(() => send());
        throw clientError("TimeoutError", {}, 0);
      },
      { at: "front" },
    );
    return late;
  }

  const ten = Array.from({ length: 10 }, (_, index) => sqsRecord(`m${index}`));
  const countUp = (id: string, more: object = {}): DynamoDBWrite => ({
    Update: {
      TableName: orders,
      Key: { id },
      UpdateExpression: "ADD runs :one",
      ExpressionAttributeValues: { ":one": 1 },
      ...more,
    },
  });
  const runsOf = async (id: string) => {
    const input = { TableName: orders, Key: { id: { S: id } }, ConsistentRead: true };
    return Number((await client.send(new GetItemCommand(input))).Item?.runs?.N ?? 0);
  };
  const committing: Handler = ({ messageId }, { idempotency }) =>
    idempotency.commit(null, { writes: [countUp(messageId)] });

  it("claims ten messages by one request, and completes them by another", async () => {
    const deliver = batch(() => "done");

    expect(await deliver(...ten)).toEqual([]);

    expect(counts.commands).toEqual(["BatchExecuteStatement", "BatchExecuteStatement"]);
  });

  it("commits for ten messages in one transaction", async () => {
    const deliver = batch(committing);

    expect(await deliver(...ten)).toEqual([]);

    expect(counts.commands).toEqual(["BatchExecuteStatement", "TransactWriteItems"]);
    for (const { messageId } of ten) expect(await runsOf(messageId)).toBe(1);
  });

  it("looks for ten records by one request, and inserts them by another, in the optimistic mode", async () => {
    const deliver = batch(committing, { mode: "optimistic" });

    expect(await deliver(...ten)).toEqual([]);
    expect(counts.commands).toEqual(["BatchGetItem", "TransactWriteItems"]);

    expect(await deliver(...ten)).toEqual([]);
    expect(counts.commands).toEqual(["BatchGetItem"]);
    for (const { messageId } of ten) expect(await runsOf(messageId)).toBe(1);
  });

  it("replays ten messages with the refused claims and one look at the records that refused them", async () => {
    const deliver = batch(committing);
    await deliver(...ten);

    expect(await deliver(...ten)).toEqual([]);

    expect(counts.commands).toEqual(["BatchExecuteStatement", "BatchGetItem"]);
    expect(given.decisions().filter((decision) => decision === "replayed")).toHaveLength(10);
  });

  it("asks together through a cache, which answers what it remembers", async () => {
    const store = cached(new DynamoDBStore({ tableName: records, client }));
    const deliver = batch(committing, { store });

    expect(await deliver(...ten)).toEqual([]);
    expect(counts.commands).toEqual(["BatchExecuteStatement", "TransactWriteItems"]);

    expect(await deliver(...ten)).toEqual([]);
    expect(counts.commands).toEqual(["BatchExecuteStatement", "BatchGetItem"]);

    expect(await deliver(...ten)).toEqual([]);
    expect(counts.commands).toEqual([]);
    for (const { messageId } of ten) expect(await runsOf(messageId)).toBe(1);
  });

  it("answers a duplicate in the same batch without a request, if its payload is the same", async () => {
    const deliver = batch(committing, {
      key: ({ messageId }) => messageId.slice(0, 2),
      fingerprint: (record) => record.body,
    });
    const [first, second] = [sqsRecord("m1", "paid"), sqsRecord("m2", "paid")];

    expect(await deliver(first, second, { ...first, messageId: "m1 again" })).toEqual([]);
    expect(counts.commands).toEqual(["BatchExecuteStatement", "TransactWriteItems"]);
    expect(await deliver(sqsRecord("m3", "a"), sqsRecord("m3 other", "b"))).toEqual(["m3 other"]);

    expect(given.decisions()).toContain("mismatch");
    expect(await runsOf("m1")).toBe(1);
  });

  it("asks for 25 records at most by one statement request", async () => {
    const deliver = batch(() => "done", { concurrency: 60 });
    const sixty = Array.from({ length: 60 }, (_, index) => sqsRecord(`m${index}`));

    expect(await deliver(...sixty)).toEqual([]);

    expect(counts.commands.filter((command) => command !== "BatchExecuteStatement")).toEqual([]);
    expect(counts.requests).toBeLessThanOrEqual(6);
  });

  it("claims the next messages of FIFO groups along with the completion of the ones before them", async () => {
    const order: string[] = [];
    const deliver = batch(({ messageId }) => order.push(messageId));
    const queue = ["a1", "b1", "a2", "b2", "a3", "b3"].map((id) => fifoRecord(id, id[0] as string));

    expect(await deliver(...queue)).toEqual([]);

    expect(order.filter((id) => id.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
    expect(counts.requests).toBe(6);
  });

  it("reports to each handler its own refused condition, and commits for the others", async () => {
    const refusals: Record<string, TransactionConditionError> = {};
    await client.send(
      new TransactWriteItemsCommand({
        TransactItems: ["m2", "m5"].map((id) => ({
          Put: { TableName: orders, Item: { id: { S: id }, sold: { S: `out of ${id}` } } },
        })),
      }),
    );
    const ConditionExpression = "attribute_not_exists(sold)";
    const deliver = batch(async ({ messageId }, { idempotency }) => {
      const own = countUp(messageId, { ConditionExpression, ReturnValuesOnConditionCheckFailure: "ALL_OLD" });
      try {
        await idempotency.commit(null, { writes: [countUp(`${messageId} before`), own] });
      } catch (error) {
        refusals[messageId] = error as TransactionConditionError;
        throw error;
      }
    });

    expect(await deliver(...ten)).toEqual(["m2", "m5"]);

    expect(Object.keys(refusals)).toEqual(["m2", "m5"]);
    for (const [id, refusal] of Object.entries(refusals)) {
      expect(refusal).toMatchObject({
        code: "TRANSACTION_CONDITION",
        index: 1,
        item: { id, sold: `out of ${id}` },
      });
      expect(
        JSON.stringify((refusal.cause as { CancellationReasons: object[] }).CancellationReasons),
      ).not.toContain("out of");
      expect((refusal.cause as { CancellationReasons: object[] }).CancellationReasons).toHaveLength(3);
      expect(await runsOf(`${id} before`)).toBe(0);
    }
    for (const id of ["m0", "m9"]) expect([await runsOf(id), await runsOf(`${id} before`)]).toEqual([1, 1]);
    // The claims, all commits, the others' commits, both releases.
    expect(counts.commands.slice(0, 3)).toEqual([
      "BatchExecuteStatement",
      "TransactWriteItems",
      "TransactWriteItems",
    ]);
  });

  it("does not join commits that write the same item", async () => {
    const deliver = batch((_, { idempotency }) => idempotency.commit(null, { writes: [countUp("all")] }));

    expect(await deliver(...ten.slice(0, 3))).toEqual([]);

    expect(counts.commands).toEqual(["BatchExecuteStatement", ...Array(3).fill("TransactWriteItems")]);
    expect(await runsOf("all")).toBe(3);
  });

  it("commits one by one if two puts turn out to be of the same item", async () => {
    const deliver = batch(({ messageId }, { idempotency }) =>
      idempotency.commit(null, {
        writes: [{ Put: { TableName: orders, Item: { id: "latest", runs: 1, messageId } } }],
      }),
    );

    expect(await deliver(...ten.slice(0, 3))).toEqual([]);

    expect(await runsOf("latest")).toBe(1);
    expect(given.errors).toEqual([]);
  });

  it("sends single requests from then on if the rights for groups are missing, and reports it once", async () => {
    const denied = clientError("AccessDeniedException");
    const deliver = batch(committing);
    failWith(client, denied);

    expect(await deliver(...ten)).toEqual([]);
    expect(
      await deliver(...ten.map((record) => ({ ...record, messageId: `${record.messageId} more` }))),
    ).toEqual([]);

    expect(counts.commands.slice(0, 10)).toEqual(Array(10).fill("PutItem"));
    const reported = given.events.filter(({ decision }) => decision === "group-refused");
    expect(reported).toEqual([
      { decision: "group-refused", operation: "charge-payment", durationMs: 0, error: denied },
    ]);
  });

  it("looks one by one at the records that refused claims if records may not be read together", async () => {
    const deliver = batch(committing);
    await deliver(...ten);
    aroundRequests(
      client,
      ({ command, send }) =>
        command === "BatchGetItem" ? Promise.reject(clientError("AccessDeniedException")) : send(),
      { at: "front" },
    );

    for (let delivery = 0; delivery < 2; delivery++) expect(await deliver(...ten)).toEqual([]);

    expect(counts.commands).toEqual(["BatchExecuteStatement", ...Array(10).fill("PutItem")]);
    expect(given.decisions().filter((decision) => decision === "group-refused")).toHaveLength(1);
  });

  it("sends a statement by itself if it was throttled or got no response", async () => {
    aroundRequests(
      client,
      async ({ command, input, send }) => {
        if (command !== "BatchExecuteStatement") return send();
        const { Statements = [] } = input as BatchExecuteStatementCommand["input"];
        const answer = await send({ Statements: Statements.slice(1) });
        const { Responses = [] } = answer.output as { Responses?: object[] };
        const output = { Responses: [{ Error: { Code: "ThrottlingError" } }, ...Responses] };
        return { ...answer, output: { ...answer.output, ...output } };
      },
      { at: "front" },
    );
    const deliver = batch(committing);

    expect(await deliver(...ten)).toEqual([]);

    expect(counts.commands.slice(0, 2)).toEqual(["BatchExecuteStatement", "PutItem"]);
    expect(counts.requests).toBeLessThanOrEqual(4);
  });

  it("H3: runs each message once if the responses to a group are lost, whatever repeats it", async () => {
    for (const times of [1, 3, 6]) {
      const tag = `${times} answers lost: `;
      const deliver = batch(committing);
      loseAnswers(client, times);

      expect(
        await deliver(...ten.map((record) => ({ ...record, messageId: tag + record.messageId }))),
      ).toEqual([]);

      for (const { messageId } of ten) expect(await runsOf(tag + messageId)).toBe(1);
    }
    expect(given.errors).toEqual([]);
  });

  it("applies no late copy of a transaction whose commits were tried one by one", async () => {
    const late = holdUpTransactions();
    const deliver = batch(committing);

    expect(await deliver(...ten)).toEqual([]);

    expect(late).toHaveLength(1);
    for (const copy of late)
      await expect(copy()).rejects.toMatchObject({ name: "TransactionCanceledException" });
    for (const { messageId } of ten) expect(await runsOf(messageId)).toBe(1);
  });

  it("fences a late copy off before a handler learns that its commit was refused", async () => {
    const late = holdUpTransactions();
    const ConditionExpression = "attribute_exists(id)";
    const deliver = batch(async ({ messageId }, { idempotency }) => {
      try {
        await idempotency.commit("sold", { writes: [countUp(messageId, { ConditionExpression })] });
      } catch (error) {
        if (!isOnceonlyError(error) || error.code !== "TRANSACTION_CONDITION") throw error;
        // From here on the condition would hold.
        await client.send(
          new TransactWriteItemsCommand({
            TransactItems: [{ Put: { TableName: orders, Item: { id: { S: messageId } } } }],
          }),
        );
        await late
          .at(-1)?.()
          .catch(() => {});
        await idempotency.commit("sold out");
      }
    });

    expect(await deliver(...ten)).toEqual([]);

    for (const { messageId } of ten) expect(await runsOf(messageId)).toBe(0);
  });

  it("sends a request for each record with `groupRequests: false`, and nothing else", async () => {
    const deliver = batch(committing, { groupRequests: false });

    expect(await deliver(...ten)).toEqual([]);

    expect(counts.commands).toEqual([...Array(10).fill("PutItem"), ...Array(10).fill("TransactWriteItems")]);
    expect(() => batch(committing, { groupRequests: "no" as never })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION" }),
    );
  });
});
