// The contestants: AWS's durable SDK alone, with Powertools around the handler as its documentation shows, and with onceonly.

import { type DurableContext, withDurableExecution } from "@aws/durable-execution-sdk-js";
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { type SagaStepContext, saga, type WithIdempotency } from "onceonly";
import { idempotentDurable, onceSaga, onceStep } from "onceonly/durable";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { charge, lookUp, refund } from "./provider.ts";
import type { Order, Shape, Steps } from "./shapes.ts";

export const LEDGER = "ledger";
export const RECORDS = "records";
export const POWERTOOLS_RECORDS = "powertools";

export interface Contestant {
  readonly name: string;
  deploy(shape: Shape): ReturnType<typeof withDurableExecution>;
}

const refused = () => Promise.reject(new Error("the payment is refused"));
const giveUp = { retryStrategy: () => ({ shouldRetry: false }) };

/** Adds 1, so that a second write shows. */
const addition = (id: string) => ({
  TableName: LEDGER,
  Key: { id },
  UpdateExpression: "ADD times :one",
  ExpressionAttributeValues: { ":one": 1 },
});

function plainSteps(): Steps {
  const client = new DynamoDBClient({});
  return {
    charge: (context, name, id) => context.step(name, () => charge(id)),
    write: (context, name, id) =>
      context.step(name, async () => {
        await client.send(
          new UpdateItemCommand({
            ...addition(id),
            Key: { id: { S: id } },
            ExpressionAttributeValues: { ":one": { N: "1" } },
          }),
        );
        return id;
      }),
    async bookTrip(context) {
      const done: string[] = [];
      try {
        for (const id of ["hotel", "flight"]) {
          await context.step(id, () => charge(id));
          done.push(id);
        }
        await context.step("pay", refused, giveUp);
      } catch {
        for (const id of done.reverse()) await context.step(`undo ${id}`, () => refund(id));
      }
    },
  };
}

const sdkAlone: Contestant = {
  name: "the SDK alone",
  deploy(shape) {
    const steps = plainSteps();
    return withDurableExecution((order: Order, context: DurableContext) =>
      shape.handler(steps, order, context),
    );
  },
};

const withPowertools: Contestant = {
  name: "with Powertools around the handler",
  deploy(shape) {
    const steps = plainSteps();
    const handler = makeIdempotent(
      (order: Order, context: DurableContext) => shape.handler(steps, order, context),
      {
        persistenceStore: new DynamoDBPersistenceLayer({
          tableName: POWERTOOLS_RECORDS,
          awsSdkV3Client: new DynamoDBClient({}),
        }),
        config: new IdempotencyConfig({ eventKeyJmesPath: "id", throwOnNoIdempotencyKey: true }),
      },
    );
    return withDurableExecution(handler as never);
  },
};

const happened = async (id: string) =>
  (await lookUp(id)).charged > 0
    ? ({ outcome: "happened", result: id } as const)
    : ({ outcome: "did-not-happen" } as const);

const trip = saga("trip", [
  {
    name: "hotel",
    run: () => charge("hotel"),
    verify: () => happened("hotel"),
    compensate: () => refund("hotel"),
  },
  {
    name: "flight",
    run: () => charge("flight"),
    verify: () => happened("flight"),
    compensate: () => refund("flight"),
  },
  { name: "pay", run: (_context: SagaStepContext<Order, DynamoDBWrite>): Promise<string> => refused() },
]);

function onceonlySteps(store: DynamoDBStore, mode: "claimed" | "optimistic"): Steps {
  return {
    charge: (context, name, id) =>
      onceStep<unknown, DynamoDBWrite>(context, name, () => charge(id), {
        store,
        whenAbandoned: () => happened(id),
      }),
    write: (context, name, id) =>
      onceStep<unknown, DynamoDBWrite>(
        context,
        name,
        ({ commit }) => commit(id, { writes: [{ Update: addition(id) }] }),
        { store, mode },
      ),
    bookTrip: (context, order) => onceSaga(context, trip, order, { store }),
  };
}

const withOnceonly = (name: string, mode: "claimed" | "optimistic"): Contestant => ({
  name,
  deploy(shape) {
    const store = new DynamoDBStore({ tableName: RECORDS });
    const steps = onceonlySteps(store, mode);
    const handler = idempotentDurable<
      unknown,
      Order,
      DynamoDBWrite,
      DurableContext & WithIdempotency<DynamoDBWrite>
    >((order, context) => shape.handler(steps, order, context), {
      ...{ operation: "fulfil", store, key: ({ id }) => id, executionTimeoutSeconds: 86_400 },
    });
    return withDurableExecution(handler);
  },
});

export const CONTESTANTS: readonly Contestant[] = [
  sdkAlone,
  withPowertools,
  withOnceonly("with onceonly", "claimed"),
];
export const OPTIMISTIC = withOnceonly("with onceonly, optimistic", "optimistic");
