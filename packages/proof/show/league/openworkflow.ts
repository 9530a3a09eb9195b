// OpenWorkflow: "reusing the same key returns the existing run for up to 24 hours", as its `idempotencyKey` option says.
import { type Contestant, importPeer } from "./contestant.ts";
import { type Run, serveKeyed } from "./keyed.ts";

interface Workflows {
  defineWorkflow(
    spec: object,
    work: (run: { readonly input: unknown; readonly step: Step }) => Promise<unknown>,
  ): { run(input: unknown, options: object): Promise<{ result(): Promise<unknown> }> };
  newWorker(options: object): { start(): Promise<void>; stop(): Promise<void> };
}
interface Step {
  run(spec: object, work: () => Promise<unknown>): Promise<unknown>;
}
interface Library {
  readonly OpenWorkflow: new (options: object) => Workflows;
}
interface Postgres {
  readonly BackendPostgres: { connect(url: string): Promise<{ stop(): Promise<void> }> };
}

export const openworkflow: Contestant = {
  ...{ library: "OpenWorkflow", adapter: "idempotency key", store: "PostgreSQL", profile: "none" },
  ...{ packages: ["openworkflow"] },
  claimHas: "key",
  async start({ makeOrder, postgresUrl }) {
    const { OpenWorkflow } = await importPeer<Library>("openworkflow");
    const { BackendPostgres } = await importPeer<Postgres>("openworkflow/postgres");
    const backend = await BackendPostgres.connect(postgresUrl);
    const workflows = new OpenWorkflow({ backend });
    const open = (name: string): Run => {
      const once = { name, retryPolicy: { maximumAttempts: 1 } };
      const workflow = workflows.defineWorkflow(once, ({ input, step }) =>
        step.run({ name: "make" }, () => makeOrder(input)),
      );
      return async (idempotencyKey, body) => (await workflow.run(body, { idempotencyKey })).result();
    };
    const runs = { "/orders": open("orders"), "/refunds": open("refunds") };
    const worker = workflows.newWorker({ concurrency: 20 });
    await worker.start();
    return serveKeyed(runs, async () => {
      await worker.stop();
      await backend.stop();
    });
  },
};
