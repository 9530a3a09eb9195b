// One HTTP request as the gateway sees it, read from Node's server. Nothing is decoded or merged yet.
import type { IncomingMessage } from "node:http";

export interface GatewayRequest {
  readonly method: string;
  /** As sent, still percent-encoded, without the query. */
  readonly path: string;
  /** As sent, without the question mark. */
  readonly query: string;
  /** As sent, duplicates and case included. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly sourceIp: string;
  readonly body: Buffer;
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html */
export const MAX_PAYLOAD_BYTES = 10 * 1024 * 1024;

/** The request with its body, or `undefined` if the body is larger than the gateway accepts. */
export async function readRequest(message: IncomingMessage): Promise<GatewayRequest | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message) {
    bytes += chunk.length;
    if (bytes <= MAX_PAYLOAD_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_PAYLOAD_BYTES) return undefined;
  const [path = "/", ...query] = (message.url ?? "/").split("?");
  const { rawHeaders } = message;
  return {
    method: message.method ?? "GET",
    path,
    query: query.join("?"),
    headers: rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? [[name, rawHeaders[index + 1] as string] as const] : [],
    ),
    sourceIp: message.socket.remoteAddress ?? "127.0.0.1",
    body: Buffer.concat(chunks),
  };
}

/** Lower-case names, duplicates joined by commas: the form in which events carry headers. */
export function joinedHeaders(request: GatewayRequest): Record<string, string> {
  const joined: Record<string, string> = Object.create(null);
  for (const [name, value] of request.headers) {
    const key = name.toLowerCase();
    joined[key] = key in joined ? `${joined[key]},${value}` : value;
  }
  return { ...joined };
}

/** Decoded parameters, duplicates joined by commas; `undefined` if there are none. */
export function queryParameters(request: GatewayRequest): Record<string, string> | undefined {
  const joined = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(request.query)) {
    const former = joined.get(name);
    joined.set(name, former === undefined ? value : `${former},${value}`);
  }
  return joined.size > 0 ? Object.fromEntries(joined) : undefined;
}
