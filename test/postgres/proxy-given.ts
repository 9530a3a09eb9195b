// A server on loopback between a client and PostgreSQL: loses the answer to what has a text, and the connection with it.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll } from "vitest";

export interface LossyProxy {
  readonly port: number;
  /** The next request with this text is carried out, and its answer never comes. */
  loseAnswerTo(text: string): void;
  /** The next request with this text never comes to the server. */
  loseRequest(text: string): void;
}

export async function startLossyProxy(target: number): Promise<LossyProxy> {
  let lost: { readonly text: string; readonly isCarriedOut: boolean } | undefined;
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    let isLosing = false;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    client.on("data", (chunk) => {
      const hit = lost && chunk.includes(lost.text) ? lost : undefined;
      if (hit) lost = undefined;
      if (hit?.isCarriedOut === false) return end();
      isLosing = hit !== undefined;
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (isLosing) end();
      else client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    loseAnswerTo: (text) => {
      lost = { text, isCarriedOut: true };
    },
    loseRequest: (text) => {
      lost = { text, isCarriedOut: false };
    },
  };
}
