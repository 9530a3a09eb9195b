// A server on this machine with the responses that the test sets, on real sockets.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  type AddressInfo,
  createServer as createRawServer,
  type Server as RawServer,
  type Socket,
} from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { LeanDynamoDB, type LeanDynamoDBOptions } from "../../lib/lean/lean-dynamodb.ts";
import { timeless } from "../kit/time/timeless.ts";

export interface Asked {
  /** From 1. */
  readonly number: number;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly socket: Socket;
}

export type Script = (response: ServerResponse, asked: Asked) => void;

export const CREDENTIALS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" };

/** @returns its URL, and what it was asked so far */
export async function canned(script: Script, host = "127.0.0.1") {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const { url, headers, socket } = request;
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const each = { number: asked.length + 1, url, headers, body, socket };
    asked.push(each);
    script(response, each);
  });
  const url = await listening(server, host);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url, asked };
}

/** Who accepts connections, and does with them what it likes. */
export async function rawServer(accept: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    accept(socket);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return listening(server, "127.0.0.1");
}

async function listening(server: Server | RawServer, host: string): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

export function clientOf(endpoint: string, options: LeanDynamoDBOptions = {}): LeanDynamoDB {
  const client = new LeanDynamoDB({
    region: "eu-central-1",
    credentials: CREDENTIALS,
    endpoint,
    clock: timeless(),
    ...options,
  });
  onTestFinished(() => client.destroy());
  return client;
}

export function succeed(response: ServerResponse, output: object = {}): void {
  response.end(JSON.stringify(output));
}

export function refuse(response: ServerResponse, name: string, statusCode = 400, message = "no"): void {
  response
    .writeHead(statusCode)
    .end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message }));
}

export const GET = { TableName: "orders", Key: { pk: { S: "1" } } };
