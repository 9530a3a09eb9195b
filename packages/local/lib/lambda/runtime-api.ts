// The Runtime API of one execution environment, an HTTP server on loopback. AWS's runtime client fetches invocations
// from it, and reports their results to it.
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { createLoopbackServer, listen, stop } from "../loopback-server.ts";

export interface RuntimeInvocation {
  readonly requestId: string;
  /** The event, as JSON. */
  readonly payload: string;
  readonly deadlineMs: number;
  readonly functionArn: string;
}

export interface RuntimeApiEvents {
  /** The function is ready for an invocation: initialized, or done with the one before. */
  onNext(): void;
  onResponse(requestId: string, payload: string): void;
  onError(requestId: string, payload: string): void;
  onInitError(payload: string): void;
}

export interface RuntimeApi {
  /** For AWS_LAMBDA_RUNTIME_API: host and port. */
  readonly address: string;
  /** Hands an invocation to the function that asked for one. */
  deliver(invocation: RuntimeInvocation): void;
  /** Resolves once everything that a process sent before it ended has been received. */
  drained(): Promise<void>;
  close(): void;
}

const PATH =
  /^\/2018-06-01\/runtime\/(?:invocation\/(?<id>[^/]+)\/(?<report>response|error)|(?<other>invocation\/next|init\/error))$/;

export async function startRuntimeApi(events: RuntimeApiEvents): Promise<RuntimeApi> {
  let waiting: ServerResponse | undefined;
  const connections = new Set<Promise<void>>();

  async function handleRuntimeRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = PATH.exec(request.url ?? "")?.groups;
    if (route?.other === "invocation/next") {
      waiting = response;
      events.onNext();
      return;
    }
    const body = await text(request);
    response.writeHead(route ? 202 : 404).end();
    if (route?.other === "init/error") events.onInitError(body);
    if (route?.report === "error") events.onError(decodeURIComponent(route.id ?? ""), body);
    if (route?.report === "response") events.onResponse(decodeURIComponent(route.id ?? ""), body);
  }

  const server = createLoopbackServer((request, response) => {
    handleRuntimeRequest(request, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    connections.add(closed);
    void closed.then(() => connections.delete(closed));
  });
  // A function waits for its next invocation without a limit, frozen or not.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  const port = await listen(server);

  const address = `127.0.0.1:${port}`;
  return {
    address,
    deliver({ requestId, payload, deadlineMs, functionArn }) {
      waiting?.writeHead(200, {
        "content-type": "application/json",
        "lambda-runtime-aws-request-id": requestId,
        "lambda-runtime-deadline-ms": String(deadlineMs),
        "lambda-runtime-invoked-function-arn": functionArn,
      });
      waiting?.end(payload);
      waiting = undefined;
    },
    async drained() {
      // Connections are accepted in their order: once ours is, all that the process opened are known.
      await fetch(`http://${address}/`, { headers: { connection: "close" } }).catch(() => {});
      await Promise.all(connections);
      // The last request's body is handed on a turn after its connection is gone.
      await new Promise((resolve) => setImmediate(resolve));
    },
    close() {
      void stop(server);
    },
  };
}
