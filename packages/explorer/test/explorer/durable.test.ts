// Durable functions in the explorer: AWS's SDK unchanged, killed before and after each checkpoint, request and effect, suspended, and
// resumed on another host. Careless handlers are the negative controls.
import { type DurableContext, StepSemantics, withDurableExecution } from "@aws/durable-execution-sdk-js";
import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { type SagaStepContext, saga, type WithIdempotency } from "onceonly";
import { currentChildKey, idempotentDurable, oncePlugin, onceSaga, onceStep } from "onceonly/durable";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { type ExploreOptions, exactlyOnceMatchers, explore } from "onceonly-explorer";
import { describe, expect, it } from "vitest";
import { inTier } from "../../../../test/setup/tier.ts";

expect.extend(exactlyOnceMatchers);

interface Order {
  readonly id: string;
}

const options: ExploreOptions = {
  source: "durable",
  tables: { shipments: { partitionKey: "id" }, stock: { partitionKey: "id" } },
  idempotencyTable: "records",
  outside: { "https://payments.example": () => Response.json({ id: "ch_1" }) },
  timeoutSeconds: 6,
};

const store = new DynamoDBStore({ tableName: "records" });
const client = new DynamoDBClient({});

async function charge({ id }: Order, key?: string) {
  const headers = key ? { "Idempotency-Key": key } : undefined;
  const answer = await fetch("https://payments.example/charges", { method: "POST", headers, body: id });
  if (!answer.ok) throw new Error(`the provider answered ${answer.status}`);
  return (await answer.json()) as { id: string };
}

/** Counts how often it is applied. */
const shipment = ({ id }: Order) => ({
  TableName: "shipments",
  Key: { id },
  UpdateExpression: "ADD times :one",
  ExpressionAttributeValues: { ":one": 1 },
});

type Handler = (order: Order, context: DurableContext & WithIdempotency<DynamoDBWrite>) => Promise<unknown>;

const covered = (handler: Handler, config = {}) =>
  withDurableExecution(
    idempotentDurable<unknown, Order, DynamoDBWrite, DurableContext & WithIdempotency<DynamoDBWrite>>(
      handler,
      {
        ...{ operation: "fulfil", store, key: ({ id }) => id, executionTimeoutSeconds: 86_400 },
      },
    ),
    config,
  );

const careless: Handler = async (order, context) => {
  await context.step("charge", () => charge(order));
  await context.wait("cool off", { hours: 1 });
  return context.step("ship", async () => {
    const { ExpressionAttributeValues: _, ...update } = shipment(order);
    await client.send(
      new UpdateItemCommand({
        ...update,
        Key: { id: { S: order.id } },
        ExpressionAttributeValues: { ":one": { N: "1" } },
      }),
    );
    return "shipped";
  });
};

const ours: Handler = async (order, context) => {
  await onceStep<unknown, DynamoDBWrite>(context, "charge", ({ childKey }) => charge(order, childKey()), {
    store,
  });
  await context.wait("cool off", { hours: 1 });
  return onceStep<unknown, DynamoDBWrite>(
    context,
    "ship",
    ({ commit }) => commit("shipped", { writes: [{ Update: shipment(order) }] }),
    { store },
  );
};

/** Effects between the steps come again in each invocation. */
const betweenSteps: Handler = async (order, context) => {
  await ours(order, context);
  return charge(order);
};

/** The SDK's own way to never repeat a step: it fails instead. */
const atMostOnce: Handler = (order, context) =>
  context.step("charge", () => charge(order), {
    semantics: StepSemantics.AtMostOncePerRetry,
    retryStrategy: () => ({ shouldRetry: false }),
  });

const place = saga("place", [
  {
    name: "ship",
    run: ({ input, commit }: SagaStepContext<Order, DynamoDBWrite>) =>
      commit("shipped", { writes: [{ Update: shipment(input) }] }),
    compensate: ({ input, result, commit }) =>
      result &&
      commit("returned", {
        writes: [{ Update: { ...shipment(input), ExpressionAttributeValues: { ":one": -1 } } }],
      }),
  },
  { name: "charge", run: ({ input, childKey }) => charge(input, childKey()) },
]);
const withWaits: Handler = (order, context) =>
  onceSaga(context, place, order, {
    store,
    before: { charge: (during) => during.waitForCallback("approve", async () => {}) },
  });

/** A plain step, whose provider gets the plugin's key. */
const withPlugin: Handler = (order, context) =>
  context.step("charge", async () => charge(order, currentChildKey()));

const exploring = (handler: Handler, more: ExploreOptions = {}, config = {}) =>
  explore(covered(handler, config) as never, { id: "o1" }, { ...options, ...more });

describe("a defect in a durable function is found:", () => {
  const CHARGES = "calls of POST https://payments.example/charges instead of";
  const plain = (only: string) =>
    explore(withDurableExecution(careless as never) as never, { id: "o1" }, { ...options, only });

  it.each([
    ["a step whose invocation dies before its checkpoint", plain, "3 crash-before", `2 ${CHARGES} 1`],
    ["a write whose invocation dies after it", plain, "5 crash-after", "shipments"],
    ["a second execution", plain, "duplicate-afterwards", `2 ${CHARGES} 1`],
    [
      "an effect between the steps",
      (only: string) => exploring(betweenSteps, { only }),
      "14 crash-after",
      `3 ${CHARGES} 2`,
    ],
    [
      "an SDK step at most once, in the next execution",
      (only: string) => exploring(atMostOnce, { only }),
      "3 crash-after",
      `2 ${CHARGES} 1`,
    ],
  ])("%s", async (_defect, exploreOnly, only, what) => {
    const report = await exploreOnly(only);

    expect(report).not.toBeExactlyOnce();
    expect(String(report)).toContain(what);
  });
});

describe("a durable function with onceonly has each effect once, wherever it's disturbed, in a new environment each time:", () => {
  it.each([
    ["onceStep in idempotentDurable", ours, {}, inTier(60, 2000)],
    ["a saga with a callback between its steps", withWaits, {}, inTier(30, 2000)],
    [
      "plain steps that send the plugin's key",
      withPlugin,
      { plugins: [oncePlugin({ observe: () => {} })] },
      inTier(30, 2000),
    ],
  ] as const)(
    "H62: %s",
    async (_name, handler, config, maxRuns) => {
      const make = () => covered(handler, config);
      const report = await explore(
        make as never,
        { id: "o1" },
        { ...options, perEnvironment: true, maxRuns },
      );

      expect(report).toBeExactlyOnce();
      console.log(`${report}`);
    },
    120_000,
  );

  it("H62: onceStep, if each crash is followed by a deployment", async () => {
    let environments = 0;
    const newer: Handler = async (order, context) => {
      const answer = await ours(order, context);
      await context.step("audit", async () => "new in this version");
      return answer;
    };
    const make = () => covered(environments++ === 0 ? ours : newer);
    const setUp = () => {
      environments = 0;
    };
    const more = { perEnvironment: true, setUp, maxRuns: inTier(40, 2000) };

    expect(await explore(make as never, { id: "o1" }, { ...options, ...more })).toBeExactlyOnce();
  }, 120_000);
});
