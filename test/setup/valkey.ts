// Starts a Valkey or Redis for the first test file that asks, and stops it after the run. Tests ask by test/valkey/given.ts.
import type { TestProject } from "vitest/node";
import { createLoopbackServer, listen, stop } from "../../packages/local/lib/loopback-server.ts";
import { startValkey, type ValkeyServer, valkeyProgram } from "../kit/valkey-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Whether there is a server that can be run here. */
    hasValkey: boolean;
    /** Answers a GET of `/server` and `/cluster` with the port of that server, as text. */
    valkeyStarter: string;
  }
}

const KINDS: Readonly<Record<string, readonly string[]>> = {
  "/server": [],
  "/cluster": ["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1"],
};

export default async function setupValkey(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<ValkeyServer>>();

  const start = (kind = ""): Promise<ValkeyServer> => {
    const server = started.get(kind) ?? startValkey(KINDS[kind]);
    started.set(kind, server);
    return server;
  };
  const starter = createLoopbackServer((request, response) => {
    start(request.url).then(
      ({ port }) => response.end(`${port}`),
      (error) => response.writeHead(500).end(`${error.message}`),
    );
  });
  const port = await listen(starter);
  starter.unref();
  project.provide("hasValkey", valkeyProgram() !== undefined);
  project.provide("valkeyStarter", `http://127.0.0.1:${port}`);
  return async () => {
    void stop(starter);
    const servers = await Promise.allSettled(started.values());
    await Promise.all(servers.map((each) => (each.status === "fulfilled" ? each.value.stop() : undefined)));
  };
}
