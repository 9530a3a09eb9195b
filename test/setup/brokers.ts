// Starts a RabbitMQ or NATS for the first test file that asks, and stops it after the run. Tests ask by test/consumers/given.ts.
import type { TestProject } from "vitest/node";
import { createLoopbackServer, listen, stop } from "../../packages/local/lib/loopback-server.ts";
import { type BrokerName, type BrokerServer, brokerProgram, startBroker } from "../kit/broker-servers.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The brokers that can be run here. */
    brokers: BrokerName[];
    /** Answers a GET of `/<name of the broker>` with its port, as text. */
    brokerStarter: string;
  }
}

export default async function setupBrokers(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<BrokerName, Promise<BrokerServer>>();

  const start = (name: BrokerName): Promise<BrokerServer> => {
    const server = started.get(name) ?? startBroker(name);
    started.set(name, server);
    return server;
  };
  const starter = createLoopbackServer((request, response) => {
    start(request.url?.slice(1) as BrokerName).then(
      ({ port }) => response.end(`${port}`),
      (error) => response.writeHead(500).end(`${error.message}`),
    );
  });
  const port = await listen(starter);
  starter.unref();
  const names: readonly BrokerName[] = ["RabbitMQ", "NATS"];
  project.provide(
    "brokers",
    names.filter((name) => brokerProgram(name) !== undefined),
  );
  project.provide("brokerStarter", `http://127.0.0.1:${port}`);
  return async () => {
    void stop(starter);
    const servers = await Promise.allSettled(started.values());
    await Promise.all(servers.map((each) => (each.status === "fulfilled" ? each.value.stop() : undefined)));
  };
}
