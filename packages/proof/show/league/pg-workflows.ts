// pg-workflows: "pass an `idempotencyKey` and duplicate calls safely return the same run". Its result is asked for.
import { setTimeout } from "node:timers/promises";
import { type Contestant, importPeer } from "./contestant.ts";
import { type Run, serveKeyed } from "./keyed.ts";

interface WorkflowRun {
  readonly id: string;
  readonly status: string;
  readonly output: unknown;
}
interface Step {
  run(name: string, work: () => Promise<unknown>): Promise<unknown>;
}
interface Library {
  workflow(
    name: string,
    work: (run: { readonly step: Step; readonly input: unknown }) => unknown,
    options: object,
  ): object;
  readonly WorkflowEngine: new (
    options: object,
  ) => {
    start(): Promise<void>;
    stop(): Promise<void>;
    startWorkflow(run: object): Promise<WorkflowRun>;
    getRun(run: { readonly runId: string }): Promise<WorkflowRun>;
  };
}

export const pgWorkflows: Contestant = {
  ...{ library: "pg-workflows", adapter: "idempotency key", store: "PostgreSQL", profile: "none" },
  ...{ packages: ["pg-workflows"], claimHas: "key", node: 24 },
  async start({ makeOrder, postgresUrl: connectionString }) {
    const { workflow, WorkflowEngine } = await importPeer<Library>("pg-workflows");
    const define = (name: string) =>
      workflow(name, ({ step, input }) => step.run("make", () => makeOrder(input)), { retries: 3 });
    const logger = { log: () => undefined, error: () => undefined };
    const workflows = [define("orders"), define("refunds")];
    const engine = new WorkflowEngine({ connectionString, workflows, logger });
    await engine.start();
    const open =
      (workflowId: string): Run =>
      async (idempotencyKey, input) => {
        let run = await engine.startWorkflow({ workflowId, input, idempotencyKey });
        for (; /pending|running/.test(run.status); run = await engine.getRun({ runId: run.id }))
          await setTimeout(50);
        if (run.status !== "completed") throw new Error(`the run is ${run.status}`);
        return run.output;
      };
    return serveKeyed({ "/orders": open("orders"), "/refunds": open("refunds") }, () => engine.stop());
  },
};
