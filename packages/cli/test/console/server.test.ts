// Who may ask the console's server, and what it answers. Sockets are used as they are: `fetch` lets nobody choose a Host.
import { randomUUID } from "node:crypto";
import { type IncomingHttpHeaders, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { deriveChildKey } from "../../../../lib/core/child-key.ts";
import { identify } from "../../../../lib/core/identity.ts";
import { runOnce } from "../../../../lib/core/run-once.ts";
import { root } from "../../../../test/kit/project.ts";
import { run } from "../../../../test/kit/run.ts";
import { startConsole } from "../../lib/console/console-server.ts";
import { tableSource } from "../../lib/console/table-source.ts";
import { openTable } from "../../lib/table.ts";
import { newWorld, type World } from "../world.ts";

const SECRET = "canary-4711";
const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";

let world: World;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

beforeAll(async () => {
  world = await newWorld();
  await run(process.execPath, ["tools/build-console.mjs"], root);
});

async function start(mayWrite = false, pageOf?: Parameters<typeof startConsole>[0]["pageOf"]) {
  const table = await openTable({ table: world.tableName, endpoint: world.endpoint });
  const source = tableSource({ table, name: world.tableName, clock: world.clock });
  const served = await startConsole({ source, port: 0, mayWrite, ...(pageOf && { pageOf }) });
  cleanups.push(table.close, served.stop);
  const { port } = new URL(served.url);
  const host = `127.0.0.1:${port}`;

  async function ask(path: string, headers: IncomingHttpHeaders = {}, body?: object) {
    const method = body ? "POST" : "GET";
    const type = body && { "content-type": "application/json" };
    const all = { host, ...type, ...headers };
    const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
      const asked = request({ host: "127.0.0.1", port, path, method, headers: all }, resolve);
      asked.on("error", reject).end(body && JSON.stringify(body));
    });
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  }

  const page = await ask("/");
  const token = /name="onceonly-token" content="([\w-]+)"/.exec(page.text)?.[1] ?? "";
  return { ask, page, host, port, mine: { "x-onceonly-token": token } };
}

async function payOnce(handler: Parameters<typeof runOnce>[3]) {
  const key = `${SECRET}-${randomUUID()}`;
  const options = {
    operation: "pay",
    scope: "acme",
    store: world.store,
    clock: world.clock,
    leaseSeconds: 30,
  };
  await runOnce(options, key, { card: SECRET }, handler);
  return { key, keyHash: identify("pay", "acme", key).keyHash };
}

describe("the console's server", () => {
  it("serves one page that loads nothing, under a policy that lets nothing else run", async () => {
    const { page } = await start();

    const [, nonce] = /script-src 'nonce-([\w-]+)'/.exec(`${page.headers["content-security-policy"]}`) ?? [];
    expect(page.status).toBe(200);
    expect(page.text).toContain(`<script nonce="${nonce}" type="module">`);
    expect(page.headers["content-security-policy"]).toBe(
      `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data:; connect-src 'self'; ` +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(page.headers).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
    expect(page.text.replace(/<!--.*?-->/s, "")).not.toMatch(/(src|href)="(?!data:,")/);
    expect(page.text).not.toContain("{{");
    expect(page.text.length).toBeLessThan(50_000);
  });

  it("gives each start a token of its own, and each page a nonce of its own", async () => {
    const one = await start();
    const other = await start();
    const nonceOf = (answer: { text: string }) => /nonce="([\w-]+)"/.exec(answer.text)?.[1];

    expect(one.mine).not.toEqual(other.mine);
    expect(nonceOf(await one.ask("/"))).not.toBe(nonceOf(one.page));
    expect((await one.ask("/api/look", other.mine)).status).toBe(403);
  });

  it.each([
    ["a name that leads here by DNS rebinding", { host: "evil.example" }],
    ["such a name with the port", { host: "evil.example:PORT" }],
    ["a name below localhost", { host: "evil.localhost:PORT" }],
    ["another port", { host: "127.0.0.1:1" }],
    ["a page of another site", { origin: "https://evil.example" }],
    ["a page of another port of this machine", { origin: "http://127.0.0.1:1" }],
    ["a page without an origin", { origin: "null" }],
    ["a request that a browser marks as another site's", { "sec-fetch-site": "cross-site" }],
    ["a request of another port of this machine", { "sec-fetch-site": "same-site" }],
  ])("refuses %s, also with the token, and says nothing", async (_, headers) => {
    const { ask, mine, port } = await start(true);
    const given = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace("PORT", port)]),
    );

    const answers = await Promise.all([
      ask("/", given),
      ask("/api/look", { ...mine, ...given }),
      ask("/api/act", { ...mine, ...given }, { act: "retry" }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([421, 421, 421]);
    for (const answer of answers) {
      expect(answer.text).not.toContain(world.tableName);
      expect(answer.text).not.toContain(mine["x-onceonly-token"]);
    }
  });

  it("refuses a POST without the token, with another one, and what is no JSON", async () => {
    const { ask, mine } = await start(true);
    const act = { act: "retry" };

    expect((await ask("/api/act", {}, act)).status).toBe(403);
    expect((await ask("/api/act", { "x-onceonly-token": "guessed" }, act)).status).toBe(403);
    expect((await ask("/api/find", {}, { operation: "pay", key: "k" })).status).toBe(403);
    expect((await ask("/api/look")).status).toBe(403);
    expect((await ask("/api/act", { ...mine, "content-type": "text/plain" }, act)).status).toBe(415);
    expect((await ask("/api/act", mine, { act: "x".repeat(2_000_000) })).status).toBe(413);
    expect((await ask("/api/act", mine, { act: 1 })).status).toBe(400);
  });

  it("H90: derives child keys of keys that were looked up, also if it only reads", async () => {
    const { key } = await payOnce(() => "done");
    const { ask, mine } = await start();
    const { keyHash } = JSON.parse(
      (await ask("/api/find", mine, { operation: "pay", scope: "acme", key })).text,
    );
    const child = (more: object) => ask("/api/child", mine, { keyHash, name: "charge", ...more });

    const { childKey } = JSON.parse((await child({})).text);

    expect(childKey).toBe(deriveChildKey(identify("pay", "acme", key), "charge"));
    expect(JSON.parse((await child({ maxLength: "22", hex: false })).text).childKey).toHaveLength(22);
    expect((await child({ maxLength: "8" })).status).toBe(400);
    expect((await child({ name: 1 })).status).toBe(400);
    expect((await child({ keyHash: "x".repeat(43) })).status).toBe(404);
    expect((await ask("/api/child", {}, { keyHash, name: "charge" })).status).toBe(403);
  });

  it.each([
    ["act", { act: "retry" }],
    ["bodies", { keyHash: "x".repeat(43) }],
    ["owned", { scope: "acme", scan: true }],
  ])("refuses %s unless it was started to write", async (path, body) => {
    const { ask, mine } = await start();

    const { status, text: answer } = await ask(`/api/${path}`, mine, body);

    expect(status).toBe(403);
    expect(answer).toContain("--write");
  });

  it("shows what isn't settled and what waits, without a key, a payload or a result", async () => {
    const options = { operation: "pay", scope: "acme", store: world.store, clock: world.clock };
    const abandoned = { ...options, whenAbandoned: "hold", leaseSeconds: 30, renewLease: false } as const;
    await new Promise<void>((begun) => {
      void runOnce(abandoned, `${SECRET}-${randomUUID()}`, {}, () => {
        begun();
        return new Promise(() => {});
      });
    });
    await world.clock.advance(40_000);
    const waiting = await payOnce(({ commit }) =>
      commit({ card: SECRET }, { messages: [{ queue: QUEUE, key: "order-7", body: { card: SECRET } }] }),
    );
    const { ask, mine, page } = await start();

    const look = await ask("/api/look", mine);
    const life = await ask(`/api/lives/${waiting.keyHash}`, mine);

    expect(JSON.parse(look.text)).toMatchObject({
      title: `table ${world.tableName}`,
      mayWrite: false,
      outbox: { waiting: 1, parked: 0 },
      records: [{ state: "abandoned", operation: "pay", scope: "acme", attempt: 1 }],
      groups: [
        { list: "unknown", operation: "pay", why: "abandoned", members: [{ since: expect.any(Number) }] },
        { list: "waiting", operation: "pay", why: expect.stringContaining("payments") },
      ],
    });
    expect(JSON.parse(life.text)).toMatchObject({ state: "completed", attempt: 1 });
    expect(life.text).toMatch(/"request: first received .*"message 0 to \S+: waiting/);
    for (const { text: answer } of [look, life, page]) expect(answer).not.toContain(SECRET);
  });

  it("finds a key that is sent in a body, and answers with its hash alone", async () => {
    const { key, keyHash } = await payOnce(() => ({ card: SECRET }));
    const { ask, mine } = await start();

    const before = await ask(`/api/lives/${keyHash}`, mine);
    const found = await ask("/api/find", mine, { operation: "pay", scope: "acme", key });
    const other = await ask("/api/find", mine, { operation: "pay", scope: "globex", key });
    const life = await ask(`/api/lives/${keyHash}`, mine);

    expect(before.status).toBe(404);
    expect(found.text).toBe(JSON.stringify({ keyHash }));
    const absent = identify("pay", "globex", key).keyHash;
    expect(other.text).toBe(JSON.stringify({ keyHash: absent, isAbsent: true }));
    expect(JSON.parse(life.text)).toMatchObject({
      keyHash,
      operation: "pay",
      scope: "acme",
      state: "completed",
    });
    for (const { text: answer } of [before, found, life]) expect(answer).not.toContain(SECRET);
  });

  it("H90: sends the bodies of messages only to a request for them, with the token", async () => {
    const { key } = await payOnce(({ commit }) =>
      commit("done", { messages: [{ queue: QUEUE, key: "order-7", body: { card: SECRET } }] }),
    );
    const { ask, mine } = await start(true);
    const { keyHash } = JSON.parse(
      (await ask("/api/find", mine, { operation: "pay", scope: "acme", key })).text,
    );

    const life = await ask(`/api/lives/${keyHash}`, mine);
    const bodies = await ask("/api/bodies", mine, { keyHash });

    expect(JSON.parse(life.text).messages).toMatchObject([{ place: 0, state: "waiting" }]);
    expect(life.text).not.toContain(SECRET);
    expect(JSON.parse(bodies.text)).toEqual({ bodies: [{ key: "order-7", body: `{"card":"${SECRET}"}` }] });
    expect((await ask("/api/bodies", {}, { keyHash })).status).toBe(403);
    expect((await ask("/api/bodies", mine, { keyHash: "x".repeat(43) })).status).toBe(404);
  });

  it("H90: finds a key by its whole record key, and derives child keys if there's no record", async () => {
    const { key, keyHash } = await payOnce(() => "done");
    const { recordKey } = identify("pay", "acme", key);
    const gone = identify("pay", "acme", randomUUID());
    const { ask, mine } = await start();
    const find = (body: object) => ask("/api/find", mine, body);

    expect(JSON.parse((await find({ key: recordKey })).text)).toEqual({ keyHash });
    expect(JSON.parse((await find({ key: gone.recordKey })).text)).toMatchObject({ isAbsent: true });
    const child = await ask("/api/child", mine, { keyHash: gone.keyHash, name: "charge" });
    expect(JSON.parse(child.text).childKey).toBe(deriveChildKey(gone, "charge"));
    for (const refused of [{ key }, { key: recordKey, scope: "acme" }])
      expect(await find(refused)).toMatchObject({ status: 400, text: expect.stringContaining("record key") });
  });

  it("repeats no key that it refuses", async () => {
    const { ask, mine } = await start();

    const { status, text: answer } = await ask("/api/find", mine, { operation: "pay", key: `${SECRET}\n` });

    expect(status).toBe(400);
    expect(answer).not.toContain(SECRET);
  });

  it("R6: answers that the page can't be read, and goes on", async () => {
    const { ask } = await start(false, async () => {
      throw new Error("the page of the console is not built");
    });

    expect(await ask("/")).toMatchObject({ status: 502, text: expect.stringContaining("is not built") });
    expect((await ask("/")).status).toBe(502);
  });

  it.each(["/api/lives/not-a-hash", "/api/lives/..%2f..%2f", "/api/else", "/favicon.ico", "/console.html"])(
    "answers 404 to %s",
    async (path) => {
      const { ask, mine } = await start();

      expect((await ask(path, mine)).status).toBe(404);
    },
  );
});
