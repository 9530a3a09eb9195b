// What the simulator's tests begin with: tables, functions with one effect, and how often that effect is there.
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { idempotent } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import type { Fault } from "../../lib/simulator/fault.ts";
import type { Io } from "../../lib/simulator/io.ts";
import type { LambdaHandler } from "../../lib/simulator/simulated-function.ts";
import { Simulator } from "../../lib/simulator/simulator.ts";
import type { SimulatorOptions } from "../../lib/simulator/simulator-options.ts";

export const MINUTE = 60_000;

export const dynamodb = new DynamoDBClient();

/** A simulation with the sample's tables, and one for effects. */
export function givenAws(options: SimulatorOptions = {}): Simulator {
  const aws = new Simulator(options);
  createShop(aws);
  aws.table("effects", { partitionKey: "id" });
  return aws;
}

/** The sample's tables. */
export function createShop(aws: Simulator): void {
  aws.table("orders", { partitionKey: "tenant", sortKey: "id" });
  aws.table("payments", { partitionKey: "tenant", sortKey: "orderId" });
  aws.table("idempotency", {
    partitionKey: "pk",
    ttl: "expiresAt",
    stream: "NEW_IMAGE",
    indexes: {
      outbox: {
        partitionKey: { name: "unsentShard", type: "N" },
        sortKey: { name: "unsentSince", type: "N" },
        projection: "KEYS_ONLY",
      },
    },
  });
}

/** Does it in a function, and waits until everything has arrived. */
export async function inFunction<T>(aws: Simulator, work: () => Promise<T>): Promise<T> {
  const fn = aws.lambda(work);
  return aws.run(async () => {
    const invocation = await fn.invoke({});
    await aws.untilIdle();
    if (invocation.outcome !== "returned") throw Object(invocation).error ?? invocation;
    return invocation.value as T;
  });
}

export async function rowsOf(aws: Simulator, TableName: string) {
  const { Items } = await aws.dynamodb.call("Scan", { TableName, ConsistentRead: true });
  return Items as readonly Readonly<Record<string, { readonly S?: string; readonly N?: string }>>[];
}

/** Leaves an item each time it is called: an effect that cannot be undone. */
export async function effect(of: string): Promise<string> {
  const id = crypto.randomUUID();
  await dynamodb.send(new PutItemCommand({ TableName: "effects", Item: { id: { S: id }, of: { S: of } } }));
  return id;
}

/** Puts a fault on the I/Os that are meant, as often as there are faults for it. */
export function faultsOn(isMeant: (io: Io) => boolean, ...faults: readonly Fault[]) {
  const left = [...faults];
  return (io: Io): Fault | undefined => (isMeant(io) ? left.shift() : undefined);
}

/** A handler that takes its time for one effect, once for each key: one wait after the other. */
export function slowOnce(ms: number | readonly number[], clockSkewSeconds: number): LambdaHandler {
  return idempotent(
    async ({ key }: { key: string }) => {
      for (const wait of [ms].flat()) await new Promise((resolve) => setTimeout(resolve, wait));
      return effect(key);
    },
    {
      operation: "slow",
      store: new DynamoDBStore({ tableName: "idempotency" }),
      key: ({ key }) => key,
      fingerprint: ({ key }: { key: string }) => key,
      clockSkewSeconds,
    },
  );
}
