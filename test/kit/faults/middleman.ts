// A server on loopback between the functions and what they call: sees each request, and decides what becomes of it.
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { createLoopbackServer, listen, stop } from "../../../packages/local/lib/loopback-server.ts";

export interface CarriedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface CarriedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body: string;
}

/** Hands a request on, or not; what it throws breaks the connection, as "no-answer" does. */
export type Carry = (
  request: CarriedRequest,
  handOn: (request: CarriedRequest) => Promise<CarriedAnswer>,
) => Promise<CarriedAnswer | "no-answer">;

export interface Middleman {
  readonly endpoint: string;
  /** Has to be said before the first request comes; plain HTTP. */
  leadTo(url: string): void;
  stop(): Promise<void>;
}

/** Headers of one connection, or of the body as it was encoded. */
const NOT_CARRIED = /^(host|connection|keep-alive|expect|transfer-encoding|content-length|content-encoding)$/;

export async function startMiddleman(carry: Carry): Promise<Middleman> {
  const stopping = new AbortController();
  let target: URL | undefined;

  async function handOn({ method, path, headers, body }: CarriedRequest): Promise<CarriedAnswer> {
    if (!target) throw new Error("nobody said where this leads to");
    const { signal } = stopping;
    // A GET may not even have an empty one.
    const init = { method, headers, signal, ...(body !== "" && { body }) };
    const response = await fetch(new URL(path, target), init);
    const carried = [...response.headers].filter(([name]) => !NOT_CARRIED.test(name));
    return { status: response.status, headers: Object.fromEntries(carried), body: await response.text() };
  }

  async function handleRequest(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url: path = "/", headers } = incoming;
    const carried = Object.entries(headers).filter(([name]) => !NOT_CARRIED.test(name));
    const request = {
      method,
      path,
      headers: Object.fromEntries(carried) as Record<string, string>,
      body: await text(incoming),
    };
    const answer = await carry(request, handOn);
    if (answer === "no-answer") incoming.socket.destroy();
    else response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  const server = createLoopbackServer((incoming, response) => {
    handleRequest(incoming, response).catch(() => incoming.socket.destroy());
  });
  server.keepAliveTimeout = 0;
  const port = await listen(server);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    leadTo(url) {
      target = new URL(url);
    },
    async stop() {
      stopping.abort();
      await stop(server);
    },
  };
}
