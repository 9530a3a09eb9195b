// HTTP servers for this machine only. A web page can point its own hostname at 127.0.0.1 (DNS rebinding).
// Its scripts can then reach any server that listens there, and only the Host header of their requests reveals it.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Names that resolve to this machine for any client; `localhost` and everything below it by RFC 6761. */
const LOOPBACK = /^(127(\.\d{1,3}){3}|\[::1\]|([a-z\d-]+\.)*localhost\.?)(:\d{1,5})?$/i;

/** A server that answers 421 to requests for another host. It does not listen yet. */
export function createLoopbackServer(handle: RequestListener): Server {
  return createServer((request, response) => {
    if (LOOPBACK.test(request.headers.host ?? "")) return handle(request, response);
    response
      .writeHead(421, { "content-type": "text/plain", connection: "close" })
      .end("this server only accepts local requests: use 127.0.0.1 or localhost\n");
  });
}

/**
 * Listens on 127.0.0.1.
 * @returns the port; 0 picks any free one
 * @throws Error that says what to do if the port is in use
 */
export function listen(server: Server, port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = `port ${port} is already in use: stop the process that listens on it, or choose another port (0 picks a free one)`;
      reject(error.code === "EADDRINUSE" ? new Error(taken, { cause: error }) : error);
    });
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/** Cuts connections that are open, and resolves once nothing listens. */
export async function stop(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

/** Detects a port in use before anything slow is started for it. */
export async function checkPort(port: number): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await listen(probe, port);
  await stop(probe);
}
