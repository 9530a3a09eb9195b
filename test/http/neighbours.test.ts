// What stands beside onceonly on a server: parsers, compression, a second middleware, callers that go.
import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";
import fastifyCompress from "@fastify/compress";
import { createAdaptorServer } from "@hono/node-server";
import compression from "compression";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { compress } from "hono/compress";
import {
  executionOf,
  expressIdempotency,
  fastifyIdempotency,
  fetchIdempotency,
  honoIdempotency,
  keepBody,
} from "onceonly/http";
import { fakeClock, MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { InvalidOptionError } from "../../lib/core/errors.ts";
import { orGone } from "../../lib/http/gone.ts";
import { toStorable } from "../../lib/http/storable.ts";
import { listening, post, withDefaults } from "./given.ts";

const LONG = "compressible ".repeat(1000);
const PLAIN = { headers: { "idempotency-key": "key-1", "accept-encoding": "identity" } };

async function expectReadable(site: Parameters<typeof post>[0]) {
  const first = await post(site, { headers: { "idempotency-key": "key-1", "accept-encoding": "gzip" } });
  const plain = await post(site, PLAIN);

  expect([first.text, plain.text]).toEqual([LONG, LONG]);
  expect(plain.headers.get("content-encoding")).toBe(null);
  expect(plain.replayed).toBe("true");
}

describe("compression", () => {
  it.each([true, false])(
    "of Express, outside: %s, is nothing that a replay depends on",
    async (isOutside) => {
      const app = express();
      if (isOutside) app.use(compression());
      app.use(express.text({ type: () => true, verify: keepBody }));
      app.use(expressIdempotency(withDefaults({})));
      if (!isOutside) app.use(compression());
      app.post("/orders", (_req, res) => void res.type("text").send(LONG));

      await expectReadable(await listening(createServer(app)));
    },
  );

  it.each([true, false])("of Hono, outside: %s, is nothing that a replay depends on", async (isOutside) => {
    const app = new Hono();
    if (isOutside) app.use(compress());
    app.use(honoIdempotency(withDefaults({})));
    if (!isOutside) app.use(compress());
    app.post("/orders", (c) => c.text(LONG));

    await expectReadable(await listening(createAdaptorServer({ fetch: app.fetch })));
  });

  it("of Fastify, inside, is nothing that a replay depends on", async () => {
    const app = fastify();
    await app.register(fastifyCompress);
    app.post("/orders", { ...fastifyIdempotency(withDefaults({})) }, async (_request, reply) =>
      reply.type("text/plain").send(LONG),
    );
    await app.ready();
    const inject = (encoding: string) =>
      app.inject({
        method: "POST",
        url: "/orders",
        headers: { "idempotency-key": "key-1", "accept-encoding": encoding },
      });

    const first = await inject("gzip");
    const plain = await inject("identity");

    expect(first.headers["content-encoding"] ? gunzipSync(first.rawPayload).toString() : first.body).toBe(
      LONG,
    );
    expect(plain.body).toBe(LONG);
    expect(plain.headers["idempotent-replayed"]).toBe("true");
  });

  it("in an encoding that nobody here can read is refused", async () => {
    const answer = { status: 200, headers: [["content-encoding", "zstd"]] as const, body: Buffer.from("?") };

    await expect(toStorable(answer, 100)).rejects.toMatchObject({ code: "RESPONSE_NOT_STORABLE" });
  });
});

describe("a body that a parser has read", () => {
  it("is refused on Express before any I/O, and the error says what to do", async () => {
    const store = new MemoryStore();
    const app = express();
    app.use(express.text({ type: () => true }));
    app.post("/orders", expressIdempotency(withDefaults({ store })), (_req, res) => void res.end("never"));
    app.use(((error: Error, _req, res, _next) => {
      res.status(500).end(error.message);
    }) as express.ErrorRequestHandler);

    const { status, text } = await post(await listening(createServer(app)));

    expect(status).toBe(500);
    expect(text).toContain("keepBody");
    expect(store.records.size).toBe(0);
  });

  it("is refused by the Fetch API", async () => {
    const request = new Request("http://localhost/orders", { method: "POST", body: "read" });
    await request.text();
    const middleware = fetchIdempotency(withDefaults({}));

    await expect(middleware(request, () => new Response("never"))).rejects.toThrow(InvalidOptionError);
  });

  it("is known on Hono", async () => {
    const app = new Hono();
    app.use(async (c, next) => {
      await c.req.json();
      await next();
    });
    app.post("/orders", honoIdempotency(withDefaults({})), async (c) => c.json(await c.req.json(), 201));

    expect(await post(await listening(createAdaptorServer({ fetch: app.fetch })))).toMatchObject({
      status: 201,
      text: '{"item":"book"}',
    });
  });
});

describe("two middlewares of one operation on one route", () => {
  it("H51: are refused, and nothing runs", async () => {
    let runs = 0;
    const options = withDefaults({});
    const app = express();
    app.use(express.text({ type: () => true, verify: keepBody }));
    app.use(expressIdempotency(options), expressIdempotency(options));
    app.post("/orders", (_req, res) => void res.end(`${++runs}`));
    const onHono = new Hono();
    onHono.use(honoIdempotency(options), honoIdempotency(options));
    onHono.post("/orders", (c) => c.text(`${++runs}`));

    const sites = [createServer(app), createAdaptorServer({ fetch: onHono.fetch })];
    for (const server of sites) expect((await post(await listening(server))).status).toBe(500);

    expect(runs).toBe(0);
  });

  it("of two operations each have a record", async () => {
    const store = new MemoryStore();
    const app = new Hono();
    app.use(
      honoIdempotency(withDefaults({ store })),
      honoIdempotency(withDefaults({ store, operation: "other" })),
    );
    app.post("/orders", (c) => c.text(executionOf(c).operation, 201));

    const site = await listening(createAdaptorServer({ fetch: app.fetch }));

    expect(await post(site)).toMatchObject({ status: 201, text: "other" });
    expect(store.records.size).toBe(2);
  });
});

describe("a caller that has gone", () => {
  it("is waited for a minute where the handler never answers, and nothing is given back", async () => {
    const clock = fakeClock();
    const res = { destroyed: true, once: () => res, off: () => res };
    const waiting = orGone(res as never, new Promise(() => {}), clock).catch((error: unknown) => error);

    await clock.advance(59_999);
    expect(clock.sleepers).toBe(1);
    await clock.advance(1);

    expect((await waiting) as object).toHaveProperty("error.message");
    expect(clock.sleepers).toBe(0);
  });
});

it("refuses options at once", () => {
  for (const options of [
    {},
    { ...withDefaults({}), maxResponseBytes: 0 },
    { ...withDefaults({}), leash: 1 },
  ]) {
    expect(() => fetchIdempotency(options as never)).toThrow(InvalidOptionError);
  }
});
