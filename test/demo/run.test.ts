// The demo itself, in small, on every engine; and once with a service that forgets what it did.
import { setMaxListeners } from "node:events";
import { DeleteItemCommand, DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createFaults } from "../../bench/demo/faults.ts";
import { createGate, type Gate } from "../../bench/demo/gate.ts";
import { nameOf, type Observation } from "../../bench/demo/observation.ts";
import { type Plan, planDemo } from "../../bench/demo/plan.ts";
import { playPlan } from "../../bench/demo/play-plan.ts";
import { SAMPLE_FOLDER } from "../../bench/demo/run-demo.ts";
import { type Stage, startStage } from "../../bench/demo/stage.ts";
import { findProblems } from "../../bench/demo/verdict.ts";
import { type Assembly, synthesize } from "../../lib/local/stack/synthesize.ts";

const engines = inject("dynamodbEngines");
const { signal } = new AbortController();
setMaxListeners(0, signal);

let assembly: Assembly;
beforeAll(async () => {
  assembly = await synthesize({ folder: SAMPLE_FOLDER, context: { ephemeral: "true" }, signal });
});
afterAll(() => assembly?.remove());

async function play(plan: Plan, endpoint: string, gateOf?: (stage: Stage) => Gate): Promise<Observation> {
  const faults = createFaults(plan);
  const { folder } = assembly;
  const stage = await startStage({ folder, dynamodbEndpoint: endpoint, decide: faults.decide, signal });
  try {
    return await playPlan({ plan, stage, faults, signal, gate: gateOf?.(stage) });
  } finally {
    await stage.stop();
  }
}

/** Deletes every record before each request. */
function forgetfulGate({ tableNames: { records: TableName } }: Stage, endpoint: string): Gate {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new DynamoDBClient({ endpoint, region: "us-east-1", credentials });
  const gate = createGate(1);
  const forget = async () => {
    const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
    for (const { pk } of Items) await client.send(new DeleteItemCommand({ TableName, Key: { pk: pk! } }));
  };
  return { ...gate, shared: (task) => gate.shared(() => forget().then(task)) };
}

describe("playPlan", () => {
  it.concurrent.each(engines)(
    "gives one order for each key through all that is done to the service, on $name",
    { timeout: 120_000 },
    async ({ endpoint }) => {
      const plan = planDemo({ orders: 6, duplicates: 2, seed: 5 });

      const observation = await play(plan, endpoint);

      expect(findProblems(plan, observation)).toEqual([]);
      expect(observation.rows).toHaveLength(6);
      expect(observation.kills).toEqual(["before-commit"]);
      expect(observation.executions).toBeGreaterThanOrEqual(7);
      expect(observation.gaveUp).toBe(1);
      expect(observation.lostAnswers).toBeGreaterThan(0);
      expect(observation.answers.filter(({ status }) => status === 422)).toHaveLength(1);
      expect(observation.answers.filter(({ replayed }) => replayed).length).toBeGreaterThanOrEqual(5);
    },
  );

  it.concurrent("finds the second orders of a service that forgets what it did", {
    timeout: 120_000,
  }, async () => {
    const { endpoint } = engines[0]!;
    const full = planDemo({ orders: 12, duplicates: 2, seed: 5 });
    const orders = full.orders.filter(({ behaviour }) => /sequential|reused/.test(behaviour.kind));
    const plan: Plan = { ...full, orders };

    const observation = await play(plan, endpoint, (stage) => forgetfulGate(stage, endpoint));

    const problems = findProblems(plan, observation);
    for (const order of orders) expect(problems).toContain(`${nameOf(order)}: expected 1 order, found 3`);
    const reused = orders.find(({ behaviour }) => behaviour.kind === "reused")!;
    expect(problems).toContain(`${nameOf(reused)}: a request with another body was answered with 201`);
  });
});
