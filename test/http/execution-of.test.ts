// The attempt of a request, from the middleware that the request has passed: with the types of its store and its framework.
import { createServer } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import type { NestInterceptor } from "@nestjs/common";
import express from "express";
// @ts-expect-error: the types of Express 5 fit what this file uses.
import express4 from "express4";
import fastify, { type FastifyRequest } from "fastify";
import { type Context, Hono } from "hono";
import type { Execution } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import {
  executionOf,
  expressIdempotency,
  fastifyIdempotency,
  fetchIdempotency,
  honoIdempotency,
  keepBody,
  nestIdempotency,
} from "onceonly/http";
import { fromPg, PostgresStore, type PostgresWrite } from "onceonly/postgres";
import { MemoryStore } from "onceonly/testing";
import pg from "pg";
import { describe, expect, expectTypeOf, it } from "vitest";
import { listening } from "./given.ts";

/** What a handler finds behind two middlewares, of the operations `outer` and `inner`. */
const NAMES = ["outer", "inner", "inner"];

const optionsOf = (operation: string) =>
  ({ operation, store: new MemoryStore(), scope: "public", fingerprint: () => "" }) as const;

/** The operations of these executions; of one that there isn't, what the error says. */
const named = (...reads: (() => Execution<never>)[]) =>
  reads.map((read) => {
    try {
      return read().operation;
    } catch (error) {
      return (error as Error).message;
    }
  });

const onExpress = (framework: typeof express) => async () => {
  const [outer, inner] = [expressIdempotency(optionsOf("outer")), expressIdempotency(optionsOf("inner"))];
  const app = framework();
  app.use(framework.json({ verify: keepBody }));
  app.all("/orders", outer, inner, (req, res) => {
    res.json(
      named(
        () => outer.executionOf(req),
        () => inner.executionOf(req),
        () => executionOf(req),
      ),
    );
  });
  return listening(createServer(app));
};

const SERVERS: Readonly<Record<string, () => Promise<{ readonly url: string }>>> = {
  "Express 5": onExpress(express),
  "Express 4": onExpress(express4 as unknown as typeof express),
  Fastify: async () => {
    const [outer, inner] = [fastifyIdempotency(optionsOf("outer")), fastifyIdempotency(optionsOf("inner"))];
    const app = fastify();
    app.addHook("preParsing", outer.preParsing);
    app.addHook("preHandler", outer.preHandler);
    app.route({
      method: ["GET", "POST"],
      url: "/orders",
      ...inner,
      handler: async (request) =>
        named(
          () => outer.executionOf(request),
          () => inner.executionOf(request),
          () => executionOf(request),
        ),
    });
    await app.ready();
    return listening(createServer((request, response) => app.routing(request, response)));
  },
  Hono: async () => {
    const [outer, inner] = [honoIdempotency(optionsOf("outer")), honoIdempotency(optionsOf("inner"))];
    const app = new Hono();
    app.all("/orders", outer, inner, (c) =>
      c.json(
        named(
          () => outer.executionOf(c),
          () => inner.executionOf(c),
          () => executionOf(c),
        ),
      ),
    );
    return listening(createAdaptorServer({ fetch: app.fetch }));
  },
  "the Fetch API": async () => {
    const [outer, inner] = [fetchIdempotency(optionsOf("outer")), fetchIdempotency(optionsOf("inner"))];
    const answer = (request: Request) =>
      outer(request, (outside) =>
        inner(outside, (inside, execution) =>
          Response.json(
            named(
              () => outer.executionOf(inside),
              () => inner.executionOf(inside),
              () => (execution ?? inner.executionOf(inside)) as Execution<never>,
            ),
          ),
        ),
      );
    return listening(createAdaptorServer({ fetch: answer }));
  },
};

describe.each(Object.entries(SERVERS))("executionOf of the middlewares on %s", (_, start) => {
  it("returns the attempt of its own middleware, even after another one", async () => {
    const { url } = await start();
    const answer = await fetch(`${url}/orders`, { method: "POST", headers: { "idempotency-key": "key-1" } });

    expect(await answer.json()).toEqual(NAMES);
  });

  it("refuses a request that the middleware lets pass", async () => {
    const { url } = await start();
    const said = (await (await fetch(`${url}/orders`)).json()) as string[];

    expect(said).toHaveLength(3);
    for (const message of said)
      expect(message).toMatch(
        /`request` must be a request that went through .* list the method in `methods`/,
      );
  });
});

describe("executionOf of a middleware", () => {
  it.each([
    ["expressIdempotency", expressIdempotency(optionsOf("a"))],
    ["fastifyIdempotency", fastifyIdempotency(optionsOf("a"))],
    ["fetchIdempotency", fetchIdempotency(optionsOf("a"))],
    ["honoIdempotency", honoIdempotency(optionsOf("a"))],
    ["nestIdempotency", nestIdempotency(optionsOf("a"))],
  ])("rejects what it has never seen: %s", (_name, { executionOf }) => {
    for (const request of [{}, { raw: {} }, undefined, "request"]) {
      expect(() => executionOf(request as never)).toThrow(
        "`request` must be a request that went through this middleware: use the middleware on this route",
      );
    }
  });

  it("isn't copied into the options of a route", () => {
    expect(Object.keys({ ...fastifyIdempotency(optionsOf("a")) })).toEqual([
      "preParsing",
      "preHandler",
      "onError",
    ]);
  });
});

describe("the types", () => {
  const store = new DynamoDBStore({ tableName: "records", client: { config: {}, send: () => {} } });
  const inPostgres = new PostgresStore({ client: fromPg(new pg.Pool()), table: "records" });
  const operation = "create-order";

  it("of executionOf are those of the store, on every framework", () => {
    const options = { operation, store, scope: "public" } as const;
    const transactional = { operation, store: inPostgres, scope: "public" } as const;
    type InPostgres = Execution<PostgresWrite<pg.PoolClient>>;

    expectTypeOf(expressIdempotency(options).executionOf).returns.toEqualTypeOf<Execution<DynamoDBWrite>>();
    expectTypeOf(fastifyIdempotency(options).executionOf).returns.toEqualTypeOf<Execution<DynamoDBWrite>>();
    expectTypeOf(fetchIdempotency(options).executionOf).returns.toEqualTypeOf<Execution<DynamoDBWrite>>();
    expectTypeOf(honoIdempotency(options).executionOf).returns.toEqualTypeOf<Execution<DynamoDBWrite>>();
    expectTypeOf(nestIdempotency(options).executionOf).returns.toEqualTypeOf<Execution<DynamoDBWrite>>();
    expectTypeOf(expressIdempotency(transactional).executionOf).returns.toEqualTypeOf<InPostgres>();
    expectTypeOf(fastifyIdempotency(transactional).executionOf).returns.toEqualTypeOf<InPostgres>();
    expectTypeOf(fetchIdempotency(transactional).executionOf).returns.toEqualTypeOf<InPostgres>();
    expectTypeOf(honoIdempotency(transactional).executionOf).returns.toEqualTypeOf<InPostgres>();
    expectTypeOf(nestIdempotency(transactional).executionOf).returns.toEqualTypeOf<InPostgres>();
  });

  it("of a request in the options are those of Express", () => {
    const once = expressIdempotency({
      operation,
      store,
      scope: (req) => {
        expectTypeOf(req).toEqualTypeOf<express.Request>();
        return req.res?.locals.caller;
      },
      key: (req) => req.get("x-request-id"),
      fingerprint: ({ body, params }) => [body, params],
      responseHeaders: (req) => ({ "x-path": req.path }),
    });
    const app = express();
    app.post("/orders/:id", once, (req, res) => {
      // @ts-expect-error -- a response isn't a request.
      void (() => once.executionOf(res));
      res.json(once.executionOf(req).key);
    });
    app.post("/", expressIdempotency({ operation, store, scope: (req) => req.res?.locals.caller }));
    type Upload = express.Request & { file?: { path: string } };
    const upload = expressIdempotency({ operation, store, scope: ({ file }: Upload) => file?.path });

    expectTypeOf(upload).parameter(0).toEqualTypeOf<Upload>();
    expectTypeOf(once).parameter(0).toEqualTypeOf<express.Request>();
  });

  it("of a request in the options are those of Fastify", () => {
    const hooks = fastifyIdempotency({
      operation,
      store,
      scope: (request) => {
        expectTypeOf(request).toEqualTypeOf<FastifyRequest>();
        return request.ip;
      },
      key: ({ id }) => id,
    });
    const app = fastify();
    app.post("/orders", { ...hooks }, async (request) => hooks.executionOf(request).key);
    app.post<{ Body: { id: string } }>("/more", { ...hooks }, async (request) => {
      const { commit } = hooks.executionOf(request);
      // @ts-expect-error -- not a write to DynamoDB.
      void (() => commit(request.body.id, { writes: [{ table: "orders" }] }));
    });
    app.route({
      method: "POST",
      url: "/",
      ...fastifyIdempotency({ operation, store, scope: (request) => request.ip }),
      handler: async () => "",
    });

    expectTypeOf(hooks.preHandler).parameter(0).toEqualTypeOf<FastifyRequest>();
  });

  it("of a context in the options are those of Hono", () => {
    type Env = { Variables: { caller: string } };
    const app = new Hono<Env>();
    const once = honoIdempotency({
      operation,
      store,
      scope: (c) => {
        expectTypeOf(c).toEqualTypeOf<Context>();
        return c.get("caller");
      },
      fingerprint: (c) => c.req.path,
    });
    const typed = honoIdempotency({ operation, store, scope: (c: Context<Env>) => c.get("caller") });
    app.post("/orders", once, (c) => c.json(once.executionOf(c).key));
    app.post("/typed", typed, (c) => c.text(`${c.get("caller")} ${typed.executionOf(c).key}`));
    app.post("/inline", honoIdempotency({ operation, store, scope: (c) => c.req.header("x-caller") }));

    expectTypeOf(typed).parameter(0).toEqualTypeOf<Context<Env>>();
  });

  it("of a request in the options are those of the Fetch API, and of Nest's default platform", () => {
    fetchIdempotency({
      operation,
      store,
      scope: (request) => request.headers.get("x") ?? undefined,
    });
    const once = nestIdempotency({ operation, store, scope: (request) => request.get("x") });
    const guarded = nestIdempotency({
      operation,
      store,
      scope: ({ user }: { user?: { id: string } }) => user?.id,
    });

    expectTypeOf(once).toExtend<NestInterceptor>();
    expectTypeOf(guarded).toExtend<NestInterceptor>();
  });
});
