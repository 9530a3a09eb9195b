// Nest's own life of a request around the interceptor: guards before it, problems and replays in its place.
import "reflect-metadata";
import { createHmac } from "node:crypto";
import { Controller, type INestApplication, Post, Req, UseGuards, UseInterceptors } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { keyFromWebhook } from "onceonly";
import { executionOf, nestIdempotency, type ServerOptions } from "onceonly/http";
import { MemoryStore } from "onceonly/testing";
import { afterEach, describe, expect, it } from "vitest";
import { gate } from "../kit/time/gate.ts";

interface Guarded {
  readonly headers: Readonly<Record<string, string>>;
  user?: { id: string };
}
type Once = ReturnType<typeof nestIdempotency<Guarded>>;
type Work = (request: Guarded, once: Once) => unknown;

const apps: INestApplication[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

/** A guard takes the caller from a header, as if it had verified a token. */
async function start(
  adapter: ExpressAdapter | FastifyAdapter,
  store: MemoryStore,
  work: Work,
  more: Partial<ServerOptions<Guarded>> = {},
) {
  class Orders {}
  const { prototype } = Orders;
  Object.defineProperty(prototype, "create", {
    value: (request: Guarded) => work(request, interceptor),
    configurable: true,
    writable: true,
  });
  const guard = {
    canActivate(context: { switchToHttp(): { getRequest(): Guarded } }) {
      const request = context.switchToHttp().getRequest();
      const { caller } = request.headers;
      if (caller) request.user = { id: caller };
      return true;
    },
  };
  const interceptor = nestIdempotency<Guarded>({
    operation: "create-order",
    store,
    whenInProgress: "reject",
    scope: ({ user }) => user?.id,
    ...more,
  });
  Req()(prototype, "create", 0);
  Reflect.decorate(
    [Post(), UseGuards(guard), UseInterceptors(interceptor)],
    prototype,
    "create",
    Object.getOwnPropertyDescriptor(prototype, "create"),
  );
  Controller("orders")(Orders);
  class App {}
  Reflect.defineMetadata("controllers", [Orders], App);
  const app: INestApplication = await NestFactory.create(App, adapter, { rawBody: true, logger: false });
  apps.push(app);
  await app.listen(0, "127.0.0.1");
  const url = `${await app.getUrl()}/orders`;
  return async (headers: Record<string, string>, body = '{"item":"book"}') => {
    const answer = await fetch(url, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
    });
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  };
}

describe.each([
  ["Express", () => new ExpressAdapter()],
  ["Fastify", () => new FastifyAdapter()],
] as const)("S2: Nest on %s", (_name, adapter) => {
  const ours = { caller: "ann", "idempotency-key": "key-1" };

  it("R8: runs once for a signed webhook and its retry, and answers 401 to a forged one", async () => {
    let runs = 0;
    const key = keyFromWebhook("github", { secret: "s" });
    const ask = await start(adapter(), new MemoryStore(), () => ({ run: ++runs }), { key, scope: "public" });
    const body = '{"action":"opened"}';
    const signature = `sha256=${createHmac("sha256", "s").update(body).digest("hex")}`;
    const headers = { "x-github-delivery": "d1", "x-hub-signature-256": signature };

    const statuses = [];
    for (const sent of [body, body, "{}"]) statuses.push((await ask(headers, sent)).status);

    expect(statuses).toEqual([201, 201, 401]);
    expect(runs).toBe(1);
  });

  it("replays with Idempotent-Replayed, and the caller is the one that a guard has verified", async () => {
    let runs = 0;
    const ask = await start(adapter(), new MemoryStore(), (request) => ({
      run: ++runs,
      owner: executionOf(request).scope,
    }));

    const first = await ask(ours);
    const again = await ask(ours);
    const other = await ask({ ...ours, caller: "bob" });

    expect(first).toMatchObject({ status: 201, body: { run: 1, owner: "ann" } });
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect([first, again].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
    expect(other).toMatchObject({ status: 201, body: { run: 2, owner: "bob" } });
  });

  it("gives the handler its attempt by the interceptor", async () => {
    const ask = await start(adapter(), new MemoryStore(), (request, once) => ({
      isSame: once.executionOf(request) === executionOf(request),
      owner: once.executionOf(request).scope,
    }));

    expect(await ask(ours)).toMatchObject({ status: 201, body: { isSame: true, owner: "ann" } });
  });

  it("names a missing key, a missing caller and another payload by their own codes", async () => {
    const ask = await start(adapter(), new MemoryStore(), () => ({ id: 1 }));
    await ask(ours);

    expect(await ask({ caller: "ann" })).toMatchObject({
      status: 400,
      body: { code: "IDEMPOTENCY_KEY_MISSING" },
    });
    expect(await ask({ "idempotency-key": "key-1" })).toMatchObject({
      status: 401,
      body: { code: "SCOPE_MISSING" },
    });
    expect(await ask(ours, '{"item":"pen"}')).toMatchObject({
      status: 422,
      body: { code: "FINGERPRINT_MISMATCH" },
    });
  });

  it("answers 409 with Retry-After while the first is running", async () => {
    const [begun, over] = [gate(), gate()];
    const ask = await start(adapter(), new MemoryStore(), async () => {
      begun.open();
      await over.opened;
      return { id: 1 };
    });
    const first = ask(ours);
    await begun.opened;

    const second = await ask(ours);
    over.open();

    expect(second).toMatchObject({ status: 409, body: { code: "EXECUTION_IN_PROGRESS" } });
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await first).status).toBe(201);
  });

  it("answers with the committed result, and with an error when the commit fails after the answer", async () => {
    const store = new MemoryStore();
    const ask = await start(adapter(), store, async (request) => {
      const { commit, key } = executionOf(request);
      if (key !== "key-1") commit({ statusCode: 201 }, { writes: ["no write" as never] }).catch(() => {});
      else
        await commit({
          statusCode: 202,
          headers: { "content-type": "application/json" },
          body: '{"committed":1}',
        });
      return { id: 1 };
    });

    expect(await ask(ours)).toMatchObject({ status: 202, body: { committed: 1 } });
    expect(await ask(ours)).toMatchObject({ status: 202, body: { committed: 1 } });
    const failed = await ask({ ...ours, "idempotency-key": "key-2" }).catch((error: Error) => error);
    expect(failed instanceof Error || failed.status === 500).toBe(true);
  });
});
