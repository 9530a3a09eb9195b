// An SQS on loopback for the AWS SDK: the model as an HTTP server. Everything is in memory and ends with it.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { SqsModel, type SqsModelOptions } from "onceonly-explorer/aws";
import { createLoopbackServer, listen, stop } from "../loopback-server.ts";
import { readRequest, sendAnswer, sendError } from "./json-protocol.ts";

export interface StartSqsOptions extends Omit<SqsModelOptions, "baseUrl"> {
  /** Whether a queue accepts no messages over HTTP now. @default - each does */
  readonly isDown?: ((queueUrl: string) => boolean) | undefined;
}

export interface SqsEngine {
  /** For example `http://127.0.0.1:24000`; the URLs of queues start with it. */
  readonly endpoint: string;
  /** The same queues without HTTP. */
  readonly model: SqsModel;
  /** Ends waiting receives, the server and everything it stored. */
  stop(): Promise<void>;
}

const UNAVAILABLE = {
  headers: {
    "content-type": "application/x-amz-json-1.0",
    "x-amzn-errortype": "ServiceUnavailable",
  },
  body: JSON.stringify({ __type: "ServiceUnavailable", message: "the queue was taken down locally" }),
};

/** Resolves once the server listens, on loopback and its own port, without any queue. */
export async function startSqs(options: StartSqsOptions = {}): Promise<SqsEngine> {
  const server = createLoopbackServer((incoming, response) => {
    void handleRequest(incoming, response);
  });
  server.keepAliveTimeout = 0;
  const port = await listen(server);
  const endpoint = `http://127.0.0.1:${port}`;
  const model = new SqsModel({ ...options, baseUrl: endpoint });

  async function handleRequest(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = randomUUID();
    // A receiver that hung up must not be given messages.
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    try {
      const { operation, input } = await readRequest(incoming);
      const { QueueUrl } = input as { QueueUrl?: unknown };
      if (operation.startsWith("SendMessage") && options.isDown?.(`${QueueUrl}`)) {
        return void response.writeHead(503, UNAVAILABLE.headers).end(UNAVAILABLE.body);
      }
      sendAnswer(response, requestId, await model.call(operation, input, gone.signal));
    } catch (error) {
      sendError(response, requestId, error);
    }
  }

  return {
    endpoint,
    model,
    async stop() {
      model.close();
      await stop(server);
    },
  };
}
