// No client reaches a real server from a simulation: it is simulated, or refused with the reason.
import dgram from "node:dgram";
import dns from "node:dns/promises";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net, { type AddressInfo } from "node:net";
import { buffer, text } from "node:stream/consumers";
import tls from "node:tls";
import axios from "axios";
import got from "got";
import pg from "pg";
import Stripe from "stripe";
import * as undici from "undici";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { removePatches } from "../../lib/simulator/patches/install.ts";
import { faultsOn, givenAws } from "./given.ts";

/** Taken before the imports, as a handler's module does that a test imports first. */
const early = await vi.hoisted(async () => {
  const { request } = await import("node:http");
  return { fetch, request };
});

let hits = 0;
const server = http.createServer((request, response) => {
  hits++;
  request.resume().on("end", () => response.end('{"id":"real"}'));
});
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const stripe = new Stripe("sk_test_1");
let port: number;
let origin: string;
let pool: undici.Pool;
let session: http2.ClientHttp2Session;

type Request = typeof http.request;

/** Node's requests, from headers to the last byte of the answer. */
async function post(request: Request, options: http.RequestOptions = {}): Promise<unknown> {
  const asked = request(`${origin}/charges`, { method: "POST", ...options });
  asked.end("{}");
  const [response] = (await once(asked, "response")) as [http.IncomingMessage];
  return JSON.parse(await text(response));
}

async function datagram(host: string): Promise<void> {
  const socket = dgram.createSocket("udp4");
  socket.send("a", port, host);
  await once(socket, "message");
}

async function connected(socket: net.Socket): Promise<void> {
  await once(socket, "connect");
}

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
  origin = `http://127.0.0.1:${port}`;
  pool = new undici.Pool(origin, { connections: 1 });
  session = http2.connect(origin).on("error", () => undefined);
  // Connections that are kept from before the simulation.
  await post(http.request, { agent });
  await (await pool.request({ path: "/", method: "GET" })).body.text();
  await (await early.fetch(origin)).text();
});

afterAll(async () => {
  agent.destroy();
  session.destroy();
  await pool.destroy();
  await removePatches();
  server.closeAllConnections();
  server.close();
});

/** Runs the code as a handler, and counts what reaches the real server meanwhile. */
async function inSimulation(work: () => unknown, faults?: Parameters<typeof faultsOn>) {
  const aws = givenAws();
  for (const each of [origin, "https://api.stripe.com"]) {
    aws.serve(each, async (request) => {
      const { method, headers } = request;
      const key = headers.get("idempotency-key");
      return Response.json({ id: "simulated", method, key, body: await request.text() });
    });
  }
  if (faults) aws.faults = faultsOn(...faults);
  const fn = aws.lambda(async () => work(), { timeoutSeconds: 20 });
  const before = hits;
  const invocation = await aws.run(() => fn.invoke({}));
  expect(hits - before).toBe(0);
  return { invocation: invocation as { outcome: string; value?: unknown; error?: Error }, aws };
}

describe("H78: a client in a simulation is simulated", () => {
  it.each<[string, () => unknown]>([
    ["fetch", async () => (await fetch(`${origin}/charges`, { method: "POST", body: "{}" })).json()],
    ["axios", async () => (await axios.post(`${origin}/charges`, {})).data],
    ["axios with fetch", async () => (await axios.post(`${origin}/charges`, {}, { adapter: "fetch" })).data],
    ["got", () => got.post(`${origin}/charges`, { json: {} }).json()],
    [
      "got with timeouts",
      () => got.post(`${origin}/charges`, { json: {}, timeout: { request: 3000, connect: 100 } }).json(),
    ],
    ["Stripe's", () => stripe.charges.create({ amount: 1 }, { idempotencyKey: "key-1" })],
    ["http.request", () => post(http.request)],
    ["http.request taken before", () => post(early.request)],
    ["an agent with a connection from before", () => post(http.request, { agent })],
    ["a request taken before, with a connection from before", () => post(early.request, { agent })],
    ["an agent that connects in its own way", () => post(http.request, { agent: new OwnAgent() })],
    [
      "a connection of the caller's",
      () => post(http.request, { createConnection: () => net.connect(port, "127.0.0.1") }),
    ],
    [
      "new ClientRequest",
      () =>
        post(
          ((url: string, options: object) =>
            new http.ClientRequest(new URL(url), Object(options))) as Request,
        ),
    ],
  ])("%s", async (_, work) => {
    const { invocation, aws } = await inSimulation(work);

    expect(invocation).toMatchObject({ outcome: "returned", value: { id: "simulated" } });
    expect(aws.trace.filter(({ io }) => io?.service === "http")).toHaveLength(1);
  });

  class OwnAgent extends http.Agent {
    override createConnection = () => net.connect(port, "127.0.0.1");
  }

  it("streams requests and responses, with its key", async () => {
    const { invocation } = await inSimulation(async () => {
      const asked = http.request(`${origin}/charges`, {
        method: "POST",
        headers: { "Idempotency-Key": "k" },
      });
      for (const part of ["a", "b", "c"]) asked.write(part);
      asked.end();
      const [response] = (await once(asked, "response")) as [http.IncomingMessage];
      const parts: string[] = [];
      for await (const part of response) parts.push(String(part));
      return { ...JSON.parse(parts.join("")), complete: response.complete };
    });

    expect(invocation.value).toEqual({
      id: "simulated",
      method: "POST",
      key: "k",
      body: "abc",
      complete: true,
    });
  });

  it("follows redirects, and reads no body if there is none", async () => {
    const aws = givenAws();
    aws.serve(
      "https://old.example",
      () => new Response(null, { status: 302, headers: { location: "https://new.example/b" } }),
    );
    aws.serve("https://new.example", ({ method }) => new Response(method === "HEAD" ? null : "moved"));
    const fn = aws.lambda(async () => [
      await got("https://old.example/a").text(),
      (await axios.get("https://old.example/a")).data,
      (await axios.head("https://new.example/a")).status,
    ]);

    expect(await aws.run(() => fn.invoke({}))).toMatchObject({ value: ["moved", "moved", 200] });
    expect(aws.traceText()).toContain("GET https://new.example/b");
  });

  it("ends by a signal, by its timeout, and by a broken connection", async () => {
    const { invocation, aws } = await inSimulation(async () => {
      const codeOf = (work: Promise<unknown>) => work.catch(({ code, name }) => code ?? name);
      const signal = AbortSignal.timeout(50);
      return [
        await codeOf(got.post(`${origin}/charges`, { retry: { limit: 0 } }).json()),
        await codeOf(post(http.request, { signal })),
        await codeOf(
          got.post(`${origin}/charges`, { timeout: { response: 200 }, retry: { limit: 0 } }).json(),
        ),
        await codeOf(axios.post(`${origin}/charges`, {}, { timeout: 300 })),
      ];
    }, [
      () => true,
      { kind: "lost-answer" },
      { kind: "unanswered" },
      { kind: "unanswered" },
      { kind: "unanswered" },
    ]);

    expect(invocation.value).toEqual(["ECONNRESET", "ABORT_ERR", "ETIMEDOUT", "ECONNABORTED"]);
    expect(aws.clock.now() - 1_700_000_000_000).toBeLessThan(1000);
  });

  it("stays separate in two simultaneous simulations", async () => {
    const play = async (name: string) => {
      const aws = givenAws();
      aws.serve("https://api.example", () => new Response(name));
      const fn = aws.lambda(() => axios.get("https://api.example/a").then(({ data }) => data));
      return aws.run(() => fn.invoke({}));
    };

    const [first, second] = await Promise.all([play("first"), play("second")]);

    expect([first, second]).toMatchObject([{ value: "first" }, { value: "second" }]);
  });

  it("is counted in its background work too", async () => {
    const { invocation, aws } = await inSimulation(async () => {
      setTimeout(() => void post(early.request), 100);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    });

    expect(invocation).toMatchObject({ outcome: "returned" });
    expect(aws.traceText()).toContain("http POST");
  });
});

describe("H78: a connection that the simulation cannot see", () => {
  it.each<[string, () => unknown]>([
    ["fetch taken before", () => early.fetch(`${origin}/charges`, { method: "POST" })],
    ["undici.request", () => undici.request(`${origin}/charges`, { method: "POST" })],
    ["undici.fetch", () => undici.fetch(`${origin}/charges`)],
    ["a pool of undici with a connection from before", () => pool.request({ path: "/", method: "POST" })],
    ["net.connect", () => connected(net.connect(port, "127.0.0.1"))],
    ["net.Socket", () => connected(new net.Socket().connect({ port, host: "127.0.0.1" }))],
    ["tls.connect", () => connected(tls.connect(port, "127.0.0.1"))],
    ["http2.connect", () => once(http2.connect(origin), "connect")],
    ["an HTTP/2 session from before", () => once(session.request({ ":path": "/" }), "response")],
    [
      "a request over its own connection, taken before",
      () => post(early.request, { createConnection: () => net.connect(port, "127.0.0.1") }),
    ],
    ["pg", () => new pg.Pool({ host: "127.0.0.1", port, user: "a" }).query("select 1")],
    ["dgram", () => datagram("127.0.0.1")],
  ])("is refused with its address: %s", async (_, work) => {
    const { invocation, aws } = await inSimulation(work);

    const { error } = invocation;
    const reported = `${error?.message} ${(error?.cause as Error | undefined)?.message}`;
    expect(invocation.outcome).toBe("threw");
    expect(reported).toContain(`127.0.0.1:${port}`);
    expect(reported).toContain("declare it (explore: outside; Simulator: serve), or mock the client");
    expect(aws.trace.map(({ kind }) => kind)).toContain("refused");
  });

  it.each<[string, () => unknown, string]>([
    ["a look-up", () => dns.lookup("db.example"), "a DNS look-up of db.example"],
    ["a resolver", () => new dns.Resolver().resolve4("db.example"), "a DNS look-up of db.example"],
    ["a path", () => connected(net.connect("/tmp/none.sock")), "/tmp/none.sock"],
    ["a request to a path", () => post(http.request, { socketPath: "/tmp/none.sock" }), "/tmp/none.sock"],
    ["an origin that is not served", () => axios.get("https://nobody.example/a"), "nobody.example"],
  ])("is refused with its name: %s", async (_, work, name) => {
    const { invocation } = await inSimulation(work);

    expect(String(invocation.error?.message)).toContain(name);
  });

  it("is not stdout, and leaves a mock of undici alone", async () => {
    const mock = new undici.MockAgent();
    mock.disableNetConnect();
    mock.get("https://mocked.example").intercept({ path: "/" }).reply(200, "mocked");
    const { invocation } = await inSimulation(async () => {
      process.stdout.write("");
      const { body } = await undici.request("https://mocked.example/", { dispatcher: mock });
      return body.text();
    });

    expect(invocation.value).toBe("mocked");
  });

  it("is Node's own outside of simulations, also while one runs", async () => {
    const aws = givenAws();
    const before = hits;
    const running = aws.run(() => new Promise((resolve) => setTimeout(resolve, 60_000)));

    const answers = await Promise.all([
      axios.get(origin).then(({ data }) => data.id),
      got(origin)
        .json<{ id: string }>()
        .then(({ id }) => id),
      undici.request(origin).then(async ({ body }) => ((await body.json()) as { id: string }).id),
      early
        .fetch(origin)
        .then(async (response) => JSON.parse(String(Buffer.from(await buffer(response.body as never)))).id),
    ]);
    await running;

    expect(answers).toEqual(["real", "real", "real", "real"]);
    expect(hits - before).toBe(4);
  });
});

describe("removePatches", () => {
  it("restores the functions that open connections", async () => {
    await removePatches();

    expect([http.request, globalThis.fetch]).toEqual([early.request, early.fetch]);
    expect(Object.hasOwn(net.Socket.prototype, "write")).toBe(false);
  });
});
