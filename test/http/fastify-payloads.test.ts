// Payloads that other plugins replace, and callers that disconnect while a refusal is on its way.
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { fastifyIdempotency } from "onceonly/http";
import { afterEach, describe, expect, it } from "vitest";
import { Beside } from "../../lib/http/beside.ts";
import { gate } from "../kit/time/gate.ts";
import { type Options, withDefaults } from "./given.ts";

const apps: FastifyInstance[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

function service(options: Options = {}, settings: object = {}) {
  const app = fastify({ forceCloseConnections: true, ...settings });
  apps.push(app);
  const runs: unknown[] = [];
  const post = (headers: Readonly<Record<string, string>> = {}, payload = '{"item":"café"}') => {
    const all = { "idempotency-key": "key-1", "content-type": "application/json", ...headers };
    return app.inject({ method: "POST", url: "/orders", headers: all, payload });
  };
  const route = () =>
    app.post(
      "/orders",
      fastifyIdempotency<FastifyRequest>(withDefaults(options) as never),
      async ({ body }) => {
        runs.push(body instanceof Readable ? "a stream" : body);
        return { runs: runs.length };
      },
    );
  return { app, runs, route, post };
}

describe("a Fastify payload", () => {
  it("that is too large ends with its caller, who disconnects before the refusal is sent", async () => {
    const { app, route, post } = service({}, { bodyLimit: 30 });
    const [refusing, sending] = [gate<void>(), gate<void>()];
    app.addHook("onSend", async (_request, { statusCode }) => {
      if (statusCode !== 413) return;
      refusing.open();
      await sending.opened;
    });
    route();
    await app.listen({ port: 0, host: "127.0.0.1" });
    const arrived = once(app.server, "request");
    const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
    socket.on("error", () => {});
    const head =
      "POST /orders HTTP/1.1\r\nhost: a\r\nidempotency-key: k\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    socket.write(`${head}28\r\n${"x".repeat(40)}\r\n`);
    const [request] = await arrived;
    await refusing.opened;

    const closed = new Promise((resolve) => request.once("close", resolve));
    socket.destroy();
    await closed;
    sending.open();

    // An error that is lost here would end the process.
    expect((await post()).statusCode).toBe(200);
  });

  it("may be a stream of strings from another plugin", async () => {
    const { app, runs, route, post } = service();
    app.addHook("preParsing", async () => Readable.from(['{"item":"ca', 'fé"}']));
    route();

    const answers = [await post(), await post()];

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(answers[1]?.headers).toMatchObject({ "idempotent-replayed": "true" });
    expect(runs).toEqual([{ item: "café" }]);
  });

  it("may not be a stream of objects", async () => {
    const { app, runs, route, post } = service();
    app.addHook("preParsing", async () => Readable.from([{ item: "café" }]));
    route();

    const answer = await post();

    expect(answer.statusCode).toBe(500);
    expect(answer.json().message).toBe(
      "a `preParsing` hook before onceonly's returned a stream of objects, not of bytes",
    );
    expect(runs).toEqual([]);
  });

  const handsOn = (app: FastifyInstance) =>
    app.addContentTypeParser("application/x-order", (_request, payload, done) => done(null, payload));
  const own = { "content-type": "application/x-order" };

  it("isn't needed for a `skip` that doesn't read it", async () => {
    const { app, runs, route, post } = service({ skip: (event) => Object(event).rawPath === "/orders" });
    handsOn(app);
    route();

    const answers = [await post(own), await post(own)];

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(runs).toEqual(["a stream", "a stream"]);
  });

  it("whose bytes a `skip` needs is refused with advice, even with a fingerprint that doesn't need them", async () => {
    const skip = ({ body }: { body?: string | null }) => body === "";
    const { app, runs, route, post } = service({ skip, fingerprint: () => "same" });
    handsOn(app);
    route();

    const answer = await post(own);

    expect(answer.statusCode).toBe(500);
    expect(answer.json().message).toContain("needs the raw bytes of the body");
    expect(runs).toEqual([]);
  });
});

describe("a value kept beside a request", () => {
  it("is found on a frozen request, and is inherited only if the request has none", () => {
    const kept = new Beside<string>(Symbol("test"));
    const first = {};
    kept.set(first, "first");
    const second = Object.freeze(Object.create(first));

    expect(kept.get(second)).toBe("first");
    kept.set(second, "second");

    expect([kept.get(first), kept.get(second)]).toEqual(["first", "second"]);
  });
});
