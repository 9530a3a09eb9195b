// express-idempotency, which says that it follows Stripe.
import express from "express";
import { type Contestant, everything, loadPeer, type Site, serve, type World } from "./contestant.ts";

interface Library {
  idempotency(options?: { readonly dataAdapter?: object }): express.RequestHandler;
  getSharedIdempotencyService(): {
    isHit(request: express.Request): boolean;
    reportError(request: express.Request): Promise<void>;
  };
}

interface RedisAdapter {
  readonly default: new (options: object) => { connect(): Promise<void>; disconnect(): Promise<void> };
}

function shop(
  { makeOrder }: World,
  options: { readonly dataAdapter?: object },
  close?: () => unknown,
): Promise<Site> {
  const { idempotency, getSharedIdempotencyService } = loadPeer<Library>("express-idempotency");
  const app = express().use(express.json());
  app.post("/orders", idempotency(options), async (request, response, next) => {
    const service = getSharedIdempotencyService();
    if (service.isHit(request)) return;
    try {
      const order = await makeOrder(request.body);
      response.cookie("session", "1").location("/orders/1").status(201).send(order);
    } catch (error) {
      await service.reportError(request);
      next(error);
    }
  });
  app.use(((_error, _request, response, _next) => {
    // The middleware has set the status.
    if (response.headersSent) return;
    const status = response.statusCode >= 400 ? response.statusCode : 500;
    response.status(status).json({ error: { type: "idempotency_error" } });
  }) as express.ErrorRequestHandler);
  return serve(app, close);
}

const MIDDLEWARE = "express-idempotency";
const ADAPTER = "express-idempotency-redis-adapter";
const about = { library: MIDDLEWARE, adapter: "Express", profile: "stripe" } as const;

export const expressIdempotency: readonly Contestant[] = [
  {
    ...about,
    ...{ store: "memory", packages: [MIDDLEWARE], code: everything(MIDDLEWARE) },
    start: (world) => shop(world, {}),
  },
  {
    ...about,
    ...{ store: "Valkey", packages: [MIDDLEWARE, ADAPTER], code: everything(MIDDLEWARE, ADAPTER) },
    async start(world) {
      const { default: Adapter } = loadPeer<RedisAdapter>(ADAPTER);
      const dataAdapter = new Adapter({ connectionConfig: { url: world.valkeyUrl } });
      await dataAdapter.connect();
      return shop(world, { dataAdapter }, () => dataAdapter.disconnect());
    },
  },
];
