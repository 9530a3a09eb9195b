// Records an engine's responses: a server in front of it, for anything that speaks DynamoDB's protocol.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type Exchange, operationOf } from "./exchange.ts";

/** @param work gets the endpoint to ask */
export async function recordAnswers(
  engine: string,
  work: (endpoint: string) => Promise<unknown>,
): Promise<readonly Exchange[]> {
  const exchanges: Exchange[] = [];
  const server = createServer(async (request, response) => {
    const asked = await textOf(request);
    const { host: _, connection: __, "content-length": ___, ...headers } = request.headers;
    const answer = await fetch(engine, {
      method: "POST",
      headers: headers as Record<string, string>,
      body: asked,
    });
    const body = await answer.text();
    const operation = operationOf(request.headers);
    exchanges.push({ operation, request: JSON.parse(asked), status: answer.status, body });
    response.writeHead(answer.status, { "content-type": "application/x-amz-json-1.0" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return exchanges;
}

export async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
