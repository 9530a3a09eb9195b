// What takes part in the league: a library with one of its stores, set up as its documentation shows, behind POST /orders
// and POST /refunds.
import { createServer, type RequestListener, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";

export interface World {
  /** The effect: counts an order. Its body may ask for a failure, a large result, or a result that never comes. */
  makeOrder(body: unknown): Promise<object>;
  readonly dynamodb: DynamoDBClient;
  /** Two empty tables, by the name of their key. */
  readonly tables: { readonly id: string; readonly pk: string };
  /** The addresses of an empty Valkey or Redis, and of an empty database. */
  readonly valkeyUrl: string;
  readonly postgresUrl: string;
  /** How long a record lives, if it isn't what the library does by default. */
  readonly retentionSeconds?: number;
}

export interface Contestant {
  readonly library: string;
  readonly adapter: string;
  readonly store: "memory" | "DynamoDB" | "Valkey" | "PostgreSQL";
  /** The packages whose versions stand on the page. */
  readonly packages: readonly string[];
  /** What it imports of them, as a bundler sees it. `undefined` for a worker, whose size hardly matters. */
  readonly code?: string;
  /** The convention that the library says it follows. `none`: it knows no HTTP, so our adapter reads the header. */
  readonly profile: "ietf-07" | "stripe" | "none";
  /** The text that its claim has on the wire, if it also sends requests of its own accord. */
  readonly claimHas?: "key";
  /** The Node.js that it needs, if the project's is older. */
  readonly node?: 24;
  start(world: World): Promise<Site>;
}

export interface Site {
  readonly url: string;
  readonly close: () => unknown;
}

/** Peers stand in tools/peers, because `npm ci` leaves them out. */
const requirePeer = createRequire(new URL("../../../../tools/peers/package.json", import.meta.url));
export const loadPeer = <Module>(name: string): Module => requirePeer(name) as Module;
export const importPeer = <Module>(name: string): Promise<Module> =>
  import(requirePeer.resolve(name)) as Promise<Module>;

export async function listen(server: Server, close: () => unknown = () => undefined): Promise<Site> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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

type LambdaHandler = (event: object, context: object) => Promise<unknown>;

/**
 * Calls Lambda functions, by the path of their URL, with each request. As in Lambda, one environment has one request at
 * a time, so a race runs in as many environments.
 */
export function serveLambda(
  functions: Readonly<Record<string, () => LambdaHandler>>,
  toProblem: (error: unknown) => Result,
  close?: () => unknown,
): Promise<Site> {
  const idle: Record<string, LambdaHandler[]> = {};
  return serve(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const event = {
      ...{ version: "2.0", rawPath: url, rawQueryString: "", headers, body: await text(request) },
      requestContext: { http: { method } },
    };
    idle[url] ??= [];
    const environment = idle[url].pop() ?? functions[url]!();
    const ends = Date.now() + 30_000;
    const context = { getRemainingTimeInMillis: () => ends - Date.now() };
    const result = (await environment(event, context).catch(toProblem)) as Result;
    idle[url].push(environment);
    if (result.cookies) response.setHeader("set-cookie", result.cookies);
    response.writeHead(result.statusCode, result.headers).end(result.body);
  }, close);
}

/** A bundler's entry that takes whole packages. */
export const everything = (...packages: readonly string[]): string =>
  packages.map((name, place) => `import * as p${place} from "${name}"; console.log(p${place});`).join("\n");
