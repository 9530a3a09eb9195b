// Ends that a table of answers doesn't show: callers that go, pipelined requests, HTTP/2, answers that don't count.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, constants } from "node:http2";
import { connect as connectSocket } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { createAdaptorServer } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { httpIdempotent } from "onceonly";
import {
  executionOf,
  expressIdempotency,
  fastifyIdempotency,
  honoIdempotency,
  nestIdempotency,
} from "onceonly/http";
import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { gate } from "../kit/time/gate.ts";
import { listening, post, type Site, withDefaults } from "./given.ts";

const KEYED = { headers: { "idempotency-key": "key-1" } };

describe("H83: A3: a caller that goes while its answer is streamed", () => {
  const STREAMED: Record<string, (options: object, stream: () => PassThrough) => Promise<Site>> = {
    Express: async (options, stream) => {
      const app = express();
      app.post(
        "/orders",
        expressIdempotency(withDefaults({ ...options, fingerprint: () => 1 })),
        (_req, res) => void stream().pipe(res),
      );
      return listening(createServer(app));
    },
    Fastify: async (options, stream) => {
      const app = fastify();
      app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
      app.post("/orders", { ...fastifyIdempotency(withDefaults(options)) }, (_request, reply) =>
        reply.send(stream()),
      );
      await app.ready();
      return listening(app.server);
    },
    Hono: async (options, stream) => {
      const app = new Hono();
      app.post(
        "/orders",
        honoIdempotency(withDefaults(options)),
        () => new Response(Readable.toWeb(stream()) as ReadableStream),
      );
      return listening(createAdaptorServer({ fetch: app.fetch }));
    },
    "Hono, past its Response": async (options, stream) => {
      const app = new Hono();
      app.post("/orders", honoIdempotency(withDefaults(options)), (c) => {
        stream().pipe((c.env as { outgoing: ServerResponse }).outgoing);
        return RESPONSE_ALREADY_SENT;
      });
      return listening(createAdaptorServer({ fetch: app.fetch }));
    },
  };

  it.each(Object.entries(STREAMED))(
    "on %s has its answer recorded, and a retry gets it",
    async (_name, start) => {
      const begun = gate<PassThrough>();
      let runs = 0;
      const site = await start({}, () => {
        runs++;
        const stream = new PassThrough();
        stream.write("one ");
        begun.open(stream);
        return stream;
      });
      const leaving = new AbortController();
      const first = post(site, { signal: leaving.signal }).catch(() => "gone");
      const stream = await begun.opened;
      leaving.abort();
      expect(await first).toBe("gone");

      stream.end("two");

      expect(await post(site)).toMatchObject({ status: 200, text: "one two", replayed: "true" });
      expect(runs).toBe(1);
    },
  );
});

it("H83: A3: a handler that goes on after Fastify's own timeout doesn't run a second time in parallel", async () => {
  const over = gate();
  let runs = 0;
  const app = fastify();
  const options = withDefaults({ whenInProgress: "reject" });
  app.post("/orders", { ...fastifyIdempotency(options), handlerTimeout: 1 }, async () => {
    runs++;
    await over.opened;
    return "late";
  });
  await app.ready();
  const site = await listening(app.server);
  const ask = () => fetch(`${site.url}/orders`, { method: "POST", ...KEYED });

  const first = await ask();
  const again = await ask();
  over.open();

  expect([first.status, again.status]).toEqual([503, 409]);
  expect(await first.json()).toMatchObject({ code: "FST_ERR_HANDLER_TIMEOUT" });
  expect(runs).toBe(1);
});

it("H83: A3: pipelined requests on one connection are each answered, in their order", async () => {
  const app = express();
  app.post(
    "/orders",
    expressIdempotency(withDefaults({})),
    (req, res) => void res.send(`for ${executionOf(req).key}`),
  );
  const { url } = await listening(createServer(app));
  const socket = connectSocket(Number(new URL(url).port), "127.0.0.1");
  const request = (key: string) =>
    `POST /orders HTTP/1.1\r\nhost: a\r\nidempotency-key: ${key}\r\ncontent-length: 0\r\n\r\n`;
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
    if (received.includes("for b")) socket.end();
  });

  socket.write(request("a") + request("b"));
  await once(socket, "close");

  expect(received.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
  expect(received.indexOf("for a")).toBeLessThan(received.indexOf("for b"));
});

describe("H83: A3: on HTTP/2", () => {
  async function started(
    handle: (raw: import("node:http2").Http2ServerResponse) => unknown,
    runs: () => void,
  ) {
    const app = fastify({ http2: true });
    app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
    app.post("/orders", { ...fastifyIdempotency(withDefaults({})) }, async (_request, reply) => {
      runs();
      reply.hijack();
      await handle(reply.raw as never);
    });
    const session = connect(await app.listen({ port: 0, host: "127.0.0.1" }));
    const ask = async () => {
      const stream = session.request({
        ":path": "/orders",
        ":method": "POST",
        "idempotency-key": "key-1",
        "content-type": "a/b",
      });
      let trailers: object = {};
      stream.on("trailers", (given) => {
        trailers = { sum: given["x-sum"] };
      });
      stream.end("book");
      const [head] = await once(stream, "response");
      const text = (await stream.toArray()).join("");
      return { status: head[constants.HTTP2_HEADER_STATUS], own: head["x-a"], text, trailers };
    };
    const close = async () => {
      session.close();
      await app.close();
    };
    return { ask, close };
  }

  it("an answer with trailers is replayed", async () => {
    let runs = 0;
    const { ask, close } = await started(
      (raw) => {
        raw.writeHead(201, { "x-a": "1" });
        raw.write("made");
        raw.addTrailers({ "x-sum": "42" });
        raw.end();
      },
      () => runs++,
    );
    const made = { status: 201, own: "1", text: "made", trailers: { sum: "42" } };

    expect([await ask(), await ask()]).toEqual([made, made]);
    expect(runs).toBe(1);
    await close();
  });

  it("an answer past the response is refused by name", async () => {
    let runs = 0;
    const { ask, close } = await started(
      (raw) => void raw.stream.respond({ ":status": 201 }, { endStream: true }),
      () => runs++,
    );

    for (const { status, text } of [await ask(), await ask()]) {
      expect(status).toBe(500);
      expect(text).toContain("RESPONSE_NOT_STORABLE");
    }
    expect(runs).toBe(1);
    await close();
  });
});

describe("H83: A3: an answer that doesn't count, since the commit of its handler failed", () => {
  const commit = (request: object) => {
    executionOf(request)
      .commit({ statusCode: 201 }, { writes: ["no write" as never] })
      .catch(() => {});
  };

  it("is replaced by that of Express's error handler", async () => {
    const app = express();
    app.post("/orders", expressIdempotency(withDefaults({ fingerprint: () => 1 })), (req, res) => {
      commit(req);
      res.set("x-a", "1").json({ id: 1 });
    });
    app.use(
      ((error, _req, res, _next) =>
        void res.status(500).json({ code: error.code })) as express.ErrorRequestHandler,
    );

    const { status, text, headers } = await post(await listening(createServer(app)));

    expect({ status, text, own: headers.get("x-a") }).toEqual({
      status: 500,
      text: '{"code":"COMMIT_INVALID"}',
      own: null,
    });
  });

  it.each([false, true])("is replaced on Fastify, hijacked: %s", async (isHijacked) => {
    const app = fastify();
    app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
    app.post("/orders", { ...fastifyIdempotency(withDefaults({})) }, (request, reply) => {
      commit(request);
      if (isHijacked) reply.hijack().raw.end("made");
      else reply.header("x-a", "1").send({ id: 1 });
    });
    await app.ready();

    const { status, text } = await post(await listening(app.server));

    expect(status).toBe(500);
    if (!isHijacked) expect(JSON.parse(text)).toMatchObject({ code: "COMMIT_INVALID" });
  });
});

it("H83: A3: a Lambda function replays a server's answer without what only a server can send", async () => {
  const store = new MemoryStore();
  const app = express();
  app.post("/orders", expressIdempotency(withDefaults({ store })), (_req, res) => {
    res.statusMessage = "Order Made";
    res.status(201).send("made");
  });
  const site = await listening(createServer(app));
  await fetch(`${site.url}/orders`, { method: "POST", ...KEYED });
  const handler = httpIdempotent(async () => ({ statusCode: 500 }), {
    operation: "create-order",
    store,
    scope: () => "tenant-1",
  });
  const event = {
    version: "2.0",
    rawPath: "/orders",
    rawQueryString: "",
    ...KEYED,
    requestContext: { http: { method: "POST" } },
  };

  const answer = await handler(event as object, fakeLambdaContext({ clock: fakeClock() }));

  expect(answer).toMatchObject({ statusCode: 201, body: "made" });
  expect(Object.keys(answer as object)).not.toContain("onServer");
});

it("H83: A3: Nest's interceptor refuses what is not HTTP", () => {
  const interceptor = nestIdempotency(withDefaults({}));
  const context = {
    getType: () => "graphql",
    switchToHttp: () => ({ getRequest: () => undefined, getResponse: () => undefined }),
  };

  expect(() => interceptor.intercept(context, { handle: () => "never" })).toThrow("HTTP");
});
