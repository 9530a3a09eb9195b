// A real HTTP server on loopback that answers by script and keeps what it was sent.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly method: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** What the server does with one request. */
export type Answer =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | { readonly act: "drop" | "cut-off" }
  /** Never answers; `onRequest` runs once the whole request is there. */
  | { readonly act: "hang"; readonly onRequest: () => void };

export interface LoopbackServer {
  readonly url: string;
  /** Everything received since the last `script`. */
  readonly received: Received[];
  /** Answers the next requests in this order; 599 when there is nothing left. */
  script(answers: readonly Answer[]): void;
  /** Resolves when the client has ended the connections of all requests that were left hanging. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export async function startLoopbackServer(): Promise<LoopbackServer> {
  const received: Received[] = [];
  let answers: Answer[] = [];
  const hanging = new Set<Promise<unknown>>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ method: request.method!, headers: request.headers, body: Buffer.concat(chunks) });
    const answer = answers.shift() ?? { status: 599 };
    if ("onRequest" in answer) hanging.add(once(response, "close"));
    give(answer, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`,
    received,
    script(next) {
      answers = [...next];
      received.length = 0;
    },
    async idle() {
      await Promise.all(hanging);
      hanging.clear();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function give(answer: Answer, response: ServerResponse): void {
  if ("status" in answer) {
    response.writeHead(answer.status, answer.headers).end(answer.body);
    return;
  }
  if (answer.act === "hang") answer.onRequest();
  else if (answer.act === "drop") response.destroy();
  else {
    response.writeHead(201, { "content-length": "100" });
    response.write("half an ans", () => response.destroy());
  }
}
