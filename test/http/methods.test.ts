// Methods that need no key pass as if onceonly weren't there; those in `methods` are recorded.
import { createServer } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { expressIdempotency, fastifyIdempotency, fetchIdempotency, honoIdempotency } from "onceonly/http";
import { expect, it } from "vitest";
import { listening, type Site, withDefaults } from "./given.ts";

const METHODS = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"] as const;
const options = () => withDefaults({ methods: ["PUT", "DELETE"] });
type Start = (run: () => number) => Promise<Site>;

const SERVERS: Record<string, Start> = {
  Express: async (run) => {
    const app = express();
    app.all("/", expressIdempotency(options()), (_req, res) => void res.json({ run: run() }));
    return listening(createServer(app));
  },
  Fastify: async (run) => {
    const app = fastify();
    const url = "/";
    app.route({
      method: [...METHODS],
      url,
      ...fastifyIdempotency(options()),
      handler: async () => ({ run: run() }),
    });
    await app.ready();
    return listening(app.server);
  },
  Hono: async (run) => {
    const app = new Hono();
    app.all("/", honoIdempotency(options()), (c) => c.json({ run: run() }));
    return listening(createAdaptorServer({ fetch: app.fetch }));
  },
  "the Fetch API": async (run) => {
    const once = fetchIdempotency(options());
    return listening(
      createAdaptorServer({ fetch: (request) => once(request, () => Response.json({ run: run() })) }),
    );
  },
};

it.each(Object.entries(SERVERS))(
  "H83: A3: GET, HEAD and OPTIONS pass untouched on %s, PUT and DELETE are recorded if they're in `methods`",
  async (_name, start) => {
    let runs = 0;
    const { url } = await start(() => ++runs);
    const seen: Record<string, unknown> = {};
    for (const method of METHODS) {
      const before = runs;
      const ask = () => fetch(url, { method, headers: { "idempotency-key": `key-${method}` } });
      const [, again] = [await ask(), await ask()];
      seen[method] = [again.status, runs - before, again.headers.get("idempotent-replayed")];
    }

    expect(seen).toEqual({
      GET: [200, 2, null],
      HEAD: [200, 2, null],
      OPTIONS: [200, 2, null],
      PUT: [200, 1, "true"],
      DELETE: [200, 1, "true"],
    });
  },
);
