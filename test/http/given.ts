/** One handler on a real server of each framework. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import {
  executionOf,
  expressIdempotency,
  fastifyIdempotency,
  fetchIdempotency,
  honoIdempotency,
  keepBody,
  type ServerOptions,
} from "onceonly/http";
import { MemoryStore, type MemoryWrite } from "onceonly/testing";
import { afterEach } from "vitest";
import type { Execution } from "../../lib/core/execution.ts";

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array | Readable;
}
export type Handle = (execution: Execution<MemoryWrite>, text: string) => Answer | Promise<Answer>;
export type Options = Partial<Omit<ServerOptions<object, MemoryWrite>, "scope">> & {
  scope?: () => string | undefined;
};

export interface Site {
  readonly url: string;
  /** Takes no new connection. */
  readonly close: () => unknown;
  /** Ends the connections that are there, idle ones too. */
  readonly stop: () => void;
}
export type Start = (options: Options, handle: Handle) => Promise<Site>;

const sites: Site[] = [];
afterEach(() => {
  for (const site of sites.splice(0)) {
    site.close();
    site.stop();
  }
});
function opened(site: Site): Site {
  sites.push(site);
  return site;
}

export const withDefaults = (options: Options) => ({
  operation: "create-order",
  store: new MemoryStore(),
  scope: () => "tenant-1",
  ...options,
});

const headersOf = ({ headers = {} }: Answer) =>
  Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );

function responseOf(answer: Answer): Response {
  const { status = 201, body = "" } = answer;
  const web = body instanceof Readable ? (Readable.toWeb(body) as ReadableStream) : body;
  return new Response(web as BodyInit, { status, headers: headersOf(answer) });
}

export async function listening(server: ReturnType<typeof createAdaptorServer>): Promise<Site> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return opened({
    url: `http://127.0.0.1:${port}`,
    close: () => server.close(),
    stop: () => (server as Server).closeAllConnections(),
  });
}

const fetchServer: Start = async (options, handle) => {
  const middleware = fetchIdempotency<MemoryWrite>(withDefaults(options));
  const answer = (request: Request) =>
    middleware(request, async (again, execution) =>
      responseOf(await handle(execution ?? executionOf(request), await again.text())),
    ).catch((error: Error) => Response.json({ failed: error.message }, { status: 500 }));
  return listening(createAdaptorServer({ fetch: answer }));
};

const hono: Start = async (options, handle) => {
  const app = new Hono();
  app.onError((error, c) => c.json({ failed: error.message }, 500));
  app.all("/orders", honoIdempotency(withDefaults(options)), async (c) =>
    responseOf(await handle(executionOf(c), await c.req.text())),
  );
  return listening(createAdaptorServer({ fetch: app.fetch }));
};

const onExpress: Start = async (options, handle) => {
  const app = express();
  app.use(express.text({ type: () => true, verify: keepBody }));
  app.all("/orders", expressIdempotency(withDefaults(options)), async (req, res) => {
    const answer = await handle(executionOf(req), typeof req.body === "string" ? req.body : "");
    const { status = 201, body = "" } = answer;
    res.status(status);
    for (const [name, value] of headersOf(answer)) res.append(name, value);
    if (body instanceof Readable) body.pipe(res);
    else res.end(body);
  });
  app.use(((error: Error, _req, res, _next) => {
    res.status(500).json({ failed: error.message });
  }) as express.ErrorRequestHandler);
  return listening(createServer(app));
};

const onFastify: Start = async (options, handle) => {
  const app = fastify();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error: Error, _request, reply) => reply.code(500).send({ failed: error.message }));
  app.route({
    method: ["GET", "POST"],
    url: "/orders",
    ...fastifyIdempotency(withDefaults(options)),
    handler: async (request, reply) => {
      const answer = await handle(executionOf(request), typeof request.body === "string" ? request.body : "");
      const { status = 201, body = "" } = answer;
      for (const [name, value] of headersOf(answer)) reply.header(name, value);
      return reply.code(status).send(body);
    },
  });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  return opened({ url, close: () => void app.close(), stop: () => app.server.closeAllConnections() });
};

export const SERVERS = {
  "the Fetch API": fetchServer,
  Hono: hono,
  Express: onExpress,
  Fastify: onFastify,
} as const satisfies Record<string, Start>;

/** A request as clients send it, and its answer. */
export async function post(
  { url }: Site,
  {
    key = "key-1",
    body = '{"item":"book"}',
    method = "POST",
    ...more
  }: Record<string, unknown> & { key?: string | null } = {},
) {
  const answer = await fetch(`${url}/orders?a=1`, {
    method: method as string,
    ...(method === "POST" && { body: body as string }),
    headers: { "content-type": "application/x-order", ...(key !== null && { "idempotency-key": key }) },
    ...more,
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const { status, headers } = answer;
  return { status, headers, text: bytes.toString(), bytes, replayed: headers.get("idempotent-replayed") };
}
