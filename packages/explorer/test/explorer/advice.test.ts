// The advice of a finding: it never asks for what the handler already does.
import "../../../../test/kit/shop/environment.ts";
import { type Execution, httpIdempotent, idempotent, idempotentBatch, runOnce, saga } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { describe, expect, it } from "vitest";
import { messages, postOrder } from "../../../../test/kit/shop/events.ts";
import { adviceFor } from "../../lib/explorer/advice.ts";
import { explore } from "../../lib/explorer/explore.ts";
import { FINDING_KINDS } from "../../lib/explorer/finding.ts";
import type { ExploreOptions } from "../../lib/explorer/options.ts";
import type { Symptom } from "../../lib/explorer/symptom.ts";
import type { LambdaHandler } from "../../lib/simulator/simulated-function.ts";

const store = new DynamoDBStore({ tableName: "idempotency" });
const options: ExploreOptions = {
  tables: { orders: { partitionKey: "id" } },
  queues: { mails: {} },
  idempotencyTable: "idempotency",
  outside: {
    "https://payments.example": async () => Response.json({ charge: "ch_1" }, { status: 201 }),
  },
  callKey: () => null,
  timeoutSeconds: 6,
  maxRuns: 60,
};

/** Each mistake is made outside of what the handler's wrapper remembers. */
type Mistake = (key: string) => Promise<unknown>;

const put = async (item: Record<string, string>) => {
  const { DynamoDBClient, PutItemCommand } = await import("@aws-sdk/client-dynamodb");
  const Item = Object.fromEntries(Object.entries(item).map(([name, text]) => [name, { S: text }]));
  await new DynamoDBClient({}).send(new PutItemCommand({ TableName: "orders", Item }));
};
const send = async (body: string) => {
  const { SQSClient, SendMessageCommand } = await import("@aws-sdk/client-sqs");
  const QueueUrl = "https://sqs.us-east-1.amazonaws.com/000000000000/mails";
  await new SQSClient({}).send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
};
const charge = (headers: Record<string, string>) =>
  fetch("https://payments.example/charges", { method: "POST", headers, body: "{}" });

const MISTAKES: Readonly<Record<string, Mistake>> = {
  "an item with a fresh id": () => put({ id: crypto.randomUUID() }),
  "a message": () => send("thanks"),
  "a call without a key": () => charge({}),
  "a call with a fresh key": () => charge({ "Idempotency-Key": crypto.randomUUID() }),
  "a call with a key that the system ignores": (key) => charge({ "Idempotency-Key": key }),
};

interface Way {
  readonly handler: (mistake: Mistake) => LambdaHandler;
  readonly event: unknown;
  /** What the advice must not ask for, since the handler does it. */
  readonly does: RegExp;
  readonly operation?: string;
}

const ok = { statusCode: 201, body: "created" };
const commits = (idempotency: Execution<DynamoDBWrite>) =>
  idempotency.commit(ok, { writes: [{ Put: { TableName: "orders", Item: { id: idempotency.key } } }] });
const http = { operation: "create-order", store, scope: "public" } as const;
const plain = { operation: "place-order", store, key: () => "order-1" };
const own = (event: unknown): string => `${(event as { id?: string }).id ?? "order-1"}`;

const WRAPPER = /httpIdempotent|idempotent\(|idempotentBatch|wrap the handler/;
const COMMIT = /idempotency\.commit|with a commit|in a commit|commit the/;

const WAYS: Readonly<Record<string, Way>> = {
  "bare handler": {
    handler: (mistake) => async (event) => {
      await mistake(own(event));
      return ok;
    },
    event: postOrder(),
    does: /^never$/,
  },
  "httpIdempotent without commit": {
    handler: (mistake) =>
      httpIdempotent(async (_: unknown, { idempotency }) => {
        await mistake(idempotency.childKey("a"));
        return ok;
      }, http),
    event: postOrder(),
    does: WRAPPER,
    operation: "create-order",
  },
  "httpIdempotent with commit": {
    handler: (mistake) =>
      httpIdempotent<unknown, typeof ok, DynamoDBWrite>(async (_, { idempotency }) => {
        await mistake(idempotency.childKey("a"));
        return commits(idempotency);
      }, http),
    event: postOrder(),
    does: new RegExp(`${WRAPPER.source}|${COMMIT.source}`),
    operation: "create-order",
  },
  idempotent: {
    handler: (mistake) =>
      idempotent(async (_: unknown, { idempotency }) => {
        await mistake(idempotency.childKey("a"));
        return ok;
      }, plain),
    event: { id: "order-1" },
    does: WRAPPER,
    operation: "place-order",
  },
  idempotentBatch: {
    handler: (mistake) =>
      idempotentBatch(
        async (_: unknown, { idempotency }) => {
          await mistake(idempotency.childKey("a"));
        },
        { operation: "consume-order", store },
      ) as LambdaHandler,
    event: messages("payments", [{ body: { id: "order-1" }, key: "order-1" }]),
    does: WRAPPER,
    operation: "consume-order",
  },
  runOnce: {
    handler: (mistake) => (event, context) =>
      runOnce({ operation: "run-order", store, context }, "order-1", event, async (idempotency) => {
        await mistake(idempotency.childKey("a"));
        return ok;
      }),
    event: { id: "order-1" },
    does: WRAPPER,
    operation: "run-order",
  },
  saga: {
    handler: (mistake) => {
      const place = saga<object>("place", [
        { name: "do", run: ({ childKey }) => mistake(childKey()).then(() => null) },
      ]);
      return idempotent(async (_: unknown, { idempotency }) => {
        await place.run(idempotency, {});
        return ok;
      }, plain);
    },
    event: { id: "order-1" },
    does: new RegExp(`${WRAPPER.source}|saga\\(|make each effect a step`),
    operation: "place-order",
  },
  "optimistic mode": {
    handler: (mistake) =>
      httpIdempotent<unknown, typeof ok, DynamoDBWrite>(
        async (_, { idempotency }) => {
          await mistake(idempotency.childKey("a"));
          return commits(idempotency);
        },
        { ...http, mode: "optimistic" },
      ),
    event: postOrder(),
    does: new RegExp(`${WRAPPER.source}|${COMMIT.source}`),
    operation: "create-order",
  },
  steps: {
    handler: (mistake) =>
      idempotent(async (_: unknown, { idempotency }) => {
        await idempotency.step("do", ({ childKey }) => mistake(childKey()).then(() => null));
        return ok;
      }, plain),
    event: { id: "order-1" },
    does: new RegExp(`${WRAPPER.source}|make each effect a step`),
    operation: "place-order",
  },
};

const cases = Object.keys(WAYS).flatMap((way) =>
  Object.keys(MISTAKES).map((mistake) => [way, mistake] as const),
);

describe("the advice of a finding", () => {
  it.each(cases)("37.2: never recommends what a handler already does: %s, with %s", async (name, mistake) => {
    const { handler, event, does, operation } = WAYS[name] as Way;

    const report = await explore(handler(MISTAKES[mistake] as Mistake), event, options);

    const advices = new Set(report.findings.map(({ advice }) => advice));
    expect(report.findings.map(({ kind }) => kind)).toContain("happens-twice");
    for (const advice of advices) {
      expect(advice).not.toMatch(does);
      if (/fresh key|ignores/.test(mistake)) expect(advice).not.toMatch(/send the other system/);
      if (/ignores/.test(mistake)) expect(advice).not.toMatch(/childKey|derived from the event/);
    }
    if (operation !== undefined) expect(String(report)).toMatch(new RegExp(`^${operation}: `));
    expect(String(report)).not.toMatch(/idempotentHandler|batchHandler/);
  });

  const symptoms = FINDING_KINDS.flatMap((kind) =>
    (["http", "sqs", "stream", "invoke", "schedule"] as const).flatMap((source) =>
      (["item", "message", "object", "call", undefined] as const).flatMap((effect) =>
        (["none", "steps", "saga"] as const).flatMap((structure) =>
          [true, false].map(
            (is): Omit<Symptom, "uses" | "callKey"> => ({
              kind,
              source,
              structure,
              ...(effect && { effect: { kind: effect } }),
              isDone: is,
              isHalfDone: !is,
              hasSeveral: is,
              isUndoing: is && structure === "saga",
            }),
          ),
        ),
      ),
    ),
  );

  it.each([
    ["a record", "record", WRAPPER],
    ["a commit", "commit", new RegExp(`${WRAPPER.source}|${COMMIT.source}`)],
    ["a transaction of its store", "transaction", new RegExp(`${WRAPPER.source}|${COMMIT.source}`)],
  ] as const)("37.2: of no fault asks a handler with %s for it", (_, uses, does) => {
    for (const symptom of symptoms) {
      for (const callKey of ["none", "changes", "ignored"] as const) {
        const advice = adviceFor({ ...symptom, uses, callKey });

        expect(advice, JSON.stringify({ ...symptom, callKey })).not.toMatch(does);
        if (callKey === "ignored") expect(advice).not.toMatch(/send the other system|childKey\(\)/);
        if (symptom.structure === "saga") expect(advice).not.toMatch(/saga\(/);
      }
    }
  });

  it("37.2: names a wrapper for a handler that has none", () => {
    const advice = adviceFor({
      kind: "answer-differs",
      source: "http",
      uses: "nothing",
      callKey: "none",
      structure: "none",
      hasSeveral: false,
      isUndoing: false,
    });

    expect(advice).toContain("wrap the handler in httpIdempotent()");
  });
});
