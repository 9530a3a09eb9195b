// One loopback address for the AWS services that have no separate server here. Each service looks at a request and
// either answers it or leaves it to the next one.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { createLoopbackServer, listen, stop } from "./loopback-server.ts";

export interface AwsRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly requestId: string;
}

export interface AwsAnswer {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** `undefined` for a request to another service. */
export type ServedAws = (request: AwsRequest) => Promise<AwsAnswer> | undefined;

export interface AwsEndpoint {
  /** For example `http://127.0.0.1:24001`. */
  readonly endpoint: string;
  stop(): Promise<void>;
}

export async function startAwsEndpoint(adapters: readonly ServedAws[]): Promise<AwsEndpoint> {
  const server = createLoopbackServer((incoming, response) => {
    answer(incoming, response, adapters).catch((error: unknown) => response.destroy(error as Error));
  });
  server.keepAliveTimeout = 0;
  const port = await listen(server);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: () => stop(server),
  };
}

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  adapters: readonly ServedAws[],
): Promise<void> {
  const request: AwsRequest = {
    method: incoming.method ?? "GET",
    url: new URL(incoming.url ?? "/", "http://127.0.0.1"),
    headers: Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    ),
    body: await buffer(incoming),
    requestId: randomUUID(),
  };
  let answering: Promise<AwsAnswer> | undefined;
  for (const adapter of adapters) answering ??= adapter(request);
  const { statusCode, headers, body } = (await answering) ?? NOBODY;
  response.writeHead(statusCode, { ...headers, "x-amzn-requestid": request.requestId }).end(body);
}

const NOBODY: AwsAnswer = {
  statusCode: 404,
  headers: { "content-type": "application/json", "x-amzn-errortype": "UnknownOperationException" },
  body: JSON.stringify({ message: "no service of this run supports that operation" }),
};
