// @node-idempotency, which says that it follows the IETF draft: its core in Express and Hono, and its interceptor for Nest.
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import { type Context, Hono } from "hono";
import { type Contestant, everything, listen, loadPeer, type Site, serve, type World } from "./contestant.ts";

interface Request {
  readonly headers: object;
  readonly path: string;
  readonly body: object;
  readonly method: string;
}
interface Stored {
  readonly body?: object;
  readonly additional?: { readonly statusCode?: number };
}
interface Core {
  readonly Idempotency: new (
    storage: object,
    options: object,
  ) => {
    onRequest(request: Request): Promise<Stored | undefined>;
    onResponse(request: Request, stored: Stored): Promise<void>;
  };
}
type Adapter = new (options?: object) => { connect?(): Promise<void>; disconnect?(): Promise<void> };

const OPTIONS = { enforceIdempotency: true };
const core = ["@node-idempotency/core", "@node-idempotency/storage-adapter-memory"];
const onValkey = ["@node-idempotency/core", "@node-idempotency/storage-adapter-redis"];
const about = { library: "@node-idempotency/core", profile: "ietf-07" } as const;

const STATUSES: Readonly<Record<string, 400 | 409 | 422>> = {
  IDEMPOTENCY_FINGERPRINT_MISSMATCH: 422,
  IDEMPOTENCY_KEY_LEN_EXEEDED: 400,
  IDEMPOTENCY_KEY_MISSING: 400,
  REQUEST_IN_PROGRESS: 409,
};
const statusOf = (error: unknown) => STATUSES[`${(error as { code?: unknown }).code}`] ?? 500;

async function storage(world: World, kind: "Memory" | "Redis") {
  const peer = loadPeer<Record<string, Adapter>>(`@node-idempotency/storage-adapter-${kind.toLowerCase()}`);
  const adapter = new peer[`${kind}StorageAdapter`]!({ url: world.valkeyUrl });
  await adapter.connect?.();
  return adapter;
}

export const nodeIdempotency: readonly Contestant[] = [
  {
    ...about,
    ...{ adapter: "Express", store: "memory", packages: core, code: everything(...core) },
    async start(world) {
      const { Idempotency } = loadPeer<Core>("@node-idempotency/core");
      const once = new Idempotency(await storage(world, "Memory"), OPTIONS);
      const app = express().use(express.json());
      app.post("/orders", async ({ headers, path, method, body: sent }, response) => {
        const request = { headers, path, method, body: sent };
        try {
          const stored = await once.onRequest(request);
          if (stored) return void response.status(stored.additional?.statusCode ?? 500).json(stored.body);
          const body = await world.makeOrder(sent);
          await once.onResponse(request, { body, additional: { statusCode: 201 } });
          response.cookie("session", "1").location("/orders/1").status(201).json(body);
        } catch (error) {
          response.status(statusOf(error)).json({});
        }
      });
      return serve(app);
    },
  },
  {
    ...about,
    ...{ adapter: "Hono", store: "Valkey", packages: onValkey, code: everything(...onValkey) },
    async start(world) {
      const { Idempotency } = loadPeer<Core>("@node-idempotency/core");
      const adapter = await storage(world, "Redis");
      const once = new Idempotency(adapter, OPTIONS);
      const app = new Hono().post("/orders", async (c: Context) => {
        try {
          const { path, method } = c.req;
          const request = { headers: c.req.header(), path, method, body: await c.req.json() };
          const stored = await once.onRequest(request);
          if (stored) return c.json(stored.body ?? {}, 201);
          const body = await world.makeOrder(request.body);
          await once.onResponse(request, { body, additional: { statusCode: 201 } });
          return c.json(body, 201, { location: "/orders/1", "set-cookie": "session=1" });
        } catch (error) {
          return c.json({}, statusOf(error));
        }
      });
      return listen(createAdaptorServer({ fetch: app.fetch }) as never, () => adapter.disconnect?.());
    },
  },
];

interface Nest {
  readonly [name: string]: (...args: readonly unknown[]) => (...args: readonly unknown[]) => void;
}
interface NestCore {
  readonly NestFactory: { create(module: object, options: object): Promise<NestApp> };
}
interface NestApp {
  init(): Promise<unknown>;
  close(): Promise<void>;
  getHttpAdapter(): { getInstance(): Parameters<typeof serve>[0] };
}
interface NestPlugin {
  readonly NodeIdempotencyModule: { forRootAsync(options: object): object };
  Idempotent(options?: object): (...args: readonly unknown[]) => void;
}

/** Decorators as calls: the tests' compiler has none. */
async function nestShop(world: World, adapter: "memory" | "redis"): Promise<Site> {
  loadPeer("reflect-metadata");
  const { Controller, Post, Body, Module } = loadPeer<Nest>("@nestjs/common");
  const { NestFactory } = loadPeer<NestCore>("@nestjs/core");
  const { NodeIdempotencyModule, Idempotent } = loadPeer<NestPlugin>("@node-idempotency/nestjs");
  class Orders {
    create(body: unknown) {
      return world.makeOrder(body);
    }
  }
  const create = Object.getOwnPropertyDescriptor(Orders.prototype, "create");
  Body!()(Orders.prototype, "create", 0);
  Post!()(Orders.prototype, "create", create);
  Idempotent()(Orders.prototype, "create", create);
  Controller!("orders")(Orders);
  class App {}
  const storage = { adapter, options: { url: world.valkeyUrl } };
  Module!({ imports: [NodeIdempotencyModule.forRootAsync({ storage, ...OPTIONS })], controllers: [Orders] })(
    App,
  );
  const app = await NestFactory.create(App, { logger: false });
  await app.init();
  return serve(app.getHttpAdapter().getInstance(), () => app.close());
}

const nest = {
  ...{ library: "@node-idempotency/nestjs", adapter: "Nest 10" },
  packages: ["@node-idempotency/nestjs"],
  profile: "ietf-07",
  code: everything("@node-idempotency/nestjs"),
} as const;

export const nestIdempotency: readonly Contestant[] = [
  { ...nest, store: "memory", start: (world) => nestShop(world, "memory") },
  { ...nest, store: "Valkey", start: (world) => nestShop(world, "redis") },
];
