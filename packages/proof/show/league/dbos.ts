// DBOS: "an idempotency key for a workflow" is its id (docs.dbos.dev/typescript/tutorials/idempotency-tutorial).
import { type Contestant, loadPeer } from "./contestant.ts";
import { type Run, serveKeyed } from "./keyed.ts";

type Work = (body: unknown) => Promise<unknown>;
interface Library {
  readonly DBOS: {
    setConfig(config: object): void;
    launch(): Promise<void>;
    shutdown(): Promise<void>;
    registerWorkflow(work: Work, options: object): Work;
    runStep(work: () => Promise<unknown>, options: object): Promise<unknown>;
    startWorkflow(
      workflow: Work,
      options: object,
    ): (body: unknown) => Promise<{ getResult(): Promise<unknown> }>;
  };
}

export const dbos: Contestant = {
  ...{ library: "DBOS", adapter: "workflow id", store: "PostgreSQL", profile: "none", claimHas: "key" },
  ...{ packages: ["@dbos-inc/dbos-sdk"] },
  async start({ makeOrder, postgresUrl: systemDatabaseUrl }) {
    const { DBOS } = loadPeer<Library>("@dbos-inc/dbos-sdk");
    DBOS.setConfig({ name: "shop", applicationVersion: "1", systemDatabaseUrl, logLevel: "error" });
    const open = (name: string): Run => {
      const work: Work = (body) => DBOS.runStep(() => makeOrder(body), { name: "make" });
      const workflow = DBOS.registerWorkflow(work, { name });
      return async (workflowID, body) =>
        (await DBOS.startWorkflow(workflow, { workflowID })(body)).getResult();
    };
    const runs = { "/orders": open("orders"), "/refunds": open("refunds") };
    await DBOS.launch();
    return serveKeyed(runs, () => DBOS.shutdown());
  },
};
