// What takes part in the league: a library with one of its stores, set up as its documentation shows, behind POST /orders.
import { createServer, type RequestListener, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";

export interface World {
  /** The effect: counts an order. Its body may ask to fail the first time. */
  makeOrder(body: unknown): Promise<{ readonly id: number }>;
  readonly dynamodb: DynamoDBClient;
  /** A fresh table with a string as its key. */
  createTable(partitionKey: string): Promise<string>;
  /** The address of an empty Valkey or Redis. */
  readonly valkeyUrl: string;
}

export interface Contestant {
  readonly library: string;
  readonly adapter: string;
  readonly store: "memory" | "DynamoDB" | "Valkey";
  /** The packages whose versions stand on the page. */
  readonly packages: readonly string[];
  /** What it imports of them, as a bundler sees it. */
  readonly code: string;
  /** The convention that the library says it follows. */
  readonly profile: "ietf-07" | "stripe";
  start(world: World): Promise<Site>;
}

export interface Site {
  readonly url: string;
  readonly close: () => unknown;
}

/** Peers stand in tools/peers, because `npm ci` leaves them out. */
const requirePeer = createRequire(new URL("../../../../tools/peers/package.json", import.meta.url));
export const loadPeer = <Module>(name: string): Module => requirePeer(name) as Module;

export async function listen(server: Server, close: () => unknown = () => undefined): Promise<Site> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await close();
    },
  };
}

export const serve = (listener: RequestListener, close?: () => unknown): Promise<Site> =>
  listen(createServer(listener), close);

interface Result {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly body: string;
}

/** Calls a Lambda handler with each request, as a function URL would. */
export const serveLambda = (
  handler: (event: object, context: object) => Promise<unknown>,
  toProblem: (error: unknown) => Result,
  close?: () => unknown,
): Promise<Site> =>
  serve(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const event = {
      ...{ version: "2.0", rawPath: url, rawQueryString: "", headers, body: await text(request) },
      requestContext: { http: { method } },
    };
    const context = { getRemainingTimeInMillis: () => 30_000 };
    const result = (await handler(event, context).catch(toProblem)) as Result;
    if (result.cookies) response.setHeader("set-cookie", result.cookies);
    response.writeHead(result.statusCode, result.headers).end(result.body);
  }, close);

/** A bundler's entry that takes whole packages. */
export const everything = (...packages: readonly string[]): string =>
  packages.map((name, place) => `import * as p${place} from "${name}"; console.log(p${place});`).join("\n");
