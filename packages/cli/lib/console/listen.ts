import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Listens on 127.0.0.1.
 * @returns the port; 0 chooses a free one
 * @throws Error if the port is taken, with what to do
 */
export function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = `port ${port} is already in use: stop the process that listens on it, or choose another port (0 picks a free one)`;
      reject(error.code === "EADDRINUSE" ? new Error(taken, { cause: error }) : error);
    });
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/** @throws Error if the port is taken, with what to do */
export async function checkFree(port: number): Promise<void> {
  const server = createServer();
  await listen(server, port);
  await stop(server);
}

/** Cuts connections that are open, and resolves once nothing listens. */
export async function stop(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
