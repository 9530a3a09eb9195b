// What stands beside onceonly on a server: parsers, compression, a second middleware, callers that go.
import { once } from "node:events";
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { Readable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import fastifyCompress from "@fastify/compress";
import { createAdaptorServer } from "@hono/node-server";
import compression from "compression";
import express from "express";
import fastify, { type FastifyInstance } from "fastify";
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
import { InvalidOptionError, ResponseNotStorableError } from "../../lib/core/errors.ts";
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

  it("in an encoding that onceonly cannot read is refused", () => {
    const answer = { status: 200, headers: [["content-encoding", "zstd"]] as const, body: Buffer.from("?") };

    expect(() => toStorable(answer, 100)).toThrow(ResponseNotStorableError);
  });
});

describe("a body that a parser has read", () => {
  it("is rejected on Express before any I/O, and the error says what to do", async () => {
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
    const headers = { "idempotency-key": "key-1" };
    const request = new Request("http://localhost/orders", { method: "POST", body: "read", headers });
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

describe("a body on its way to a parser of Fastify", () => {
  async function started(app: FastifyInstance, store = new MemoryStore()) {
    app.post("/orders", { ...fastifyIdempotency(withDefaults({ store })) }, async ({ body }) => body);
    return { port: Number(new URL(await app.listen({ port: 0, host: "127.0.0.1" })).port), store };
  }
  /** Resolves to the answer, and how many bytes were sent before it. */
  async function send(port: number, headers: OutgoingHttpHeaders, chunks: Iterable<Buffer>) {
    let sent = 0;
    const counted = function* () {
      for (const chunk of chunks) {
        sent += chunk.length;
        yield chunk;
      }
    };
    const sending = request({ host: "127.0.0.1", port, method: "POST", path: "/orders", headers });
    sending.on("error", () => {});
    Readable.from(counted(), { objectMode: false }).pipe(sending);
    const [answer] = (await once(sending, "response")) as [IncomingMessage];
    const { status, text } = { status: answer.statusCode, text: (await answer.toArray()).join("") };
    sending.destroy();
    return { status, text, sent };
  }
  const json = { "content-type": "application/json", "idempotency-key": "key-1" };

  it("is read that is compressed, and a retry that is not has the same payload", async () => {
    const app = fastify();
    await app.register(fastifyCompress);
    const { port } = await started(app);
    const bytes = gzipSync('{"item":"book"}');
    const coded = { ...json, "content-encoding": "gzip", "content-length": bytes.length };

    const first = await send(port, coded, [bytes]);
    const again = await send(port, json, [Buffer.from('{"item":"book"}')]);

    expect([first, again]).toMatchObject([
      { status: 200, text: '{"item":"book"}' },
      { status: 200, text: '{"item":"book"}' },
    ]);
    await app.close();
  });

  it("is not read to its end if it exceeds its route's limit", async () => {
    const app = fastify({ bodyLimit: 1000 });
    const { port, store } = await started(app);

    const { status, sent } = await send(port, json, Array<Buffer>(2000).fill(Buffer.alloc(65_536, " ")));

    expect(status).toBe(413);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    expect(store.records.size).toBe(0);
    await app.close();
  });

  it("is known if its parser has a larger limit than the route", async () => {
    const app = fastify({ bodyLimit: 1000 });
    app.addContentTypeParser("text/csv", { parseAs: "string", bodyLimit: 5000 }, (_request, body, done) =>
      done(null, body),
    );
    const { port, store } = await started(app);
    const csv = { ...json, "content-type": "text/csv" };

    const first = await send(port, csv, [Buffer.alloc(600, "1;"), Buffer.alloc(600, "2;")]);
    const other = await send(port, csv, [Buffer.alloc(600, "1;"), Buffer.alloc(600, "3;")]);

    expect([first.status, other.status]).toEqual([200, 422]);
    expect(store.records.size).toBe(1);
    await app.close();
  });

  it("is left alone for a method that needs no key", async () => {
    const { preParsing } = fastifyIdempotency(withDefaults({}));
    const payload = Readable.from([]);

    const given = { method: "PUT", originalUrl: "/", headers: {}, routeOptions: { bodyLimit: 1 } };
    expect(await preParsing(given, undefined, payload)).toBe(payload);
  });
});

describe("an answer without a content type", () => {
  it("has none on Fastify when it is replayed", async () => {
    const app = fastify();
    const hooks = fastifyIdempotency(withDefaults({}));
    app.post("/orders", { ...hooks }, async (_request, reply) => reply.code(201).send());
    const headers = { "idempotency-key": "key-1" };
    const order = () => app.inject({ method: "POST", url: "/orders", headers });

    const [first, again] = [await order(), await order()];

    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect([first.headers["content-type"], again.headers["content-type"]]).toEqual([undefined, undefined]);
    await app.close();
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
  it("is waited for a minute if the handler never answers, and nothing is released", async () => {
    const clock = fakeClock();
    const ended = new Promise(() => {});
    const waiting = orGone({ ended, gone: Promise.resolve() }, clock).catch((error: unknown) => error);

    await clock.advance(59_999);
    expect(clock.sleepers).toBe(1);
    await clock.advance(1);

    expect((await waiting) as object).toHaveProperty("error.message");
    expect(clock.sleepers).toBe(0);
  });
});

it("rejects options immediately", () => {
  for (const options of [
    {},
    { ...withDefaults({}), maxResponseBytes: 0 },
    { ...withDefaults({}), leash: 1 },
  ]) {
    expect(() => fetchIdempotency(options as never)).toThrow(InvalidOptionError);
  }
});
