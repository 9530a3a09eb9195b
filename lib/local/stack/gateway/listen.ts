// Opening a port on loopback, with an error that says what to do where it is taken.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** @returns the port; 0 takes any free one */
export function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = `port ${port} is taken: stop what listens there, or choose another port (0 takes any)`;
      reject(error.code === "EADDRINUSE" ? new Error(taken, { cause: error }) : error);
    });
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/** Finds a taken port before anything slow is started for it. */
export async function checkPort(port: number): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await listen(probe, port);
  await new Promise((resolve) => probe.close(resolve));
}
