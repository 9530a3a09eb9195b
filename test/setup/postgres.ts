// Starts a PostgreSQL for the first test file that asks, and stops it after the run. Tests ask by test/postgres/given.ts.
import type { TestProject } from "vitest/node";
import { createLoopbackServer, listen, stop } from "../../packages/local/lib/loopback-server.ts";
import { type PostgresServer, postgresInstallations, startPostgres } from "../kit/postgres-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The servers that can be run here, by their names. */
    postgresNames: string[];
    /** Answers a GET of `/<index of the name>` with the port of that server, as text. */
    postgresStarter: string;
  }
}

export default async function setupPostgres(project: TestProject): Promise<() => Promise<void>> {
  const installations = postgresInstallations();
  const started = new Map<number, Promise<PostgresServer>>();

  const start = (index: number): Promise<PostgresServer> => {
    const server = started.get(index) ?? startPostgres(installations[index]!);
    started.set(index, server);
    return server;
  };
  const starter = createLoopbackServer((request, response) => {
    start(Number(request.url?.slice(1))).then(
      ({ port }) => response.end(`${port}`),
      (error) => response.writeHead(500).end(`${error.message}`),
    );
  });
  const port = await listen(starter);
  starter.unref();
  project.provide(
    "postgresNames",
    installations.map(({ name }) => name),
  );
  project.provide("postgresStarter", `http://127.0.0.1:${port}`);
  return async () => {
    void stop(starter);
    const servers = await Promise.allSettled(started.values());
    await Promise.all(servers.map((each) => (each.status === "fulfilled" ? each.value.stop() : undefined)));
  };
}
