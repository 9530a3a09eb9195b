// Key and caller come before the body, and a body has a limit.
import { Hono } from "hono";
import { expressIdempotency, fetchIdempotency, honoIdempotency } from "onceonly/http";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { InvalidOptionError } from "../../lib/core/errors.ts";
import { type Options, withDefaults } from "./given.ts";

const CHUNK = 65_536;
const DEFAULT_LIMIT = 1_048_576;
type Limited = Options & { maxRequestBytes?: number };
type Ask = (options: Limited, request: Request, run: () => void) => Promise<Response>;

const ASKS: readonly (readonly [string, Ask])[] = [
  [
    "the Fetch API",
    (options, request, run) =>
      fetchIdempotency(withDefaults(options))(request, async (each) => {
        run();
        return new Response(`${(await each.arrayBuffer()).byteLength}`, { status: 201 });
      }),
  ],
  [
    "Hono",
    async (options, request, run) => {
      const app = new Hono();
      app.post("/orders", honoIdempotency(withDefaults(options)), async (c) => {
        run();
        return c.text(`${(await c.req.arrayBuffer()).byteLength}`, 201);
      });
      return app.fetch(request);
    },
  ],
];

/** A request whose body counts how much of it is read. */
function counted(
  bytes: number,
  headers: Record<string, string>,
): { readonly request: Request; readonly read: () => number } {
  let left = bytes;
  const source: UnderlyingDefaultSource<Uint8Array> = {
    pull(controller) {
      if (left <= 0) controller.close();
      else controller.enqueue(new Uint8Array(Math.min(CHUNK, left)));
      left -= CHUNK;
    },
  };
  const body = new ReadableStream(source, { highWaterMark: 0 });
  const request = new Request("http://localhost/orders", {
    method: "POST",
    body,
    headers,
    duplex: "half",
  } as RequestInit);
  return { request, read: () => Math.min(bytes, bytes - left) };
}

describe.each(ASKS)("A9: %s", (_name, ask) => {
  const key = { "idempotency-key": "key-1" };
  const MIB_200 = 200 * 1024 * 1024;

  const early: readonly (readonly [string, Record<string, string>, () => string | undefined, number])[] = [
    ["without a key", {}, () => "tenant-1", 400],
    ["with a malformed key", { "idempotency-key": "a,b" }, () => "tenant-1", 400],
    ["without a caller", key, () => undefined, 401],
  ];

  it.each(early)("reads nothing of the body of a request %s", async (_what, headers, scope, status) => {
    let runs = 0;
    const { request, read } = counted(MIB_200, headers);

    const answer = await ask({ scope }, request, () => runs++);

    expect({ status: answer.status, read: read(), runs }).toEqual({ status, read: 0, runs: 0 });
  });

  it("answers 413 for a body beyond 1 MiB, reads hardly more than that, and runs nothing", async () => {
    let runs = 0;
    const store = new MemoryStore();
    const { request, read } = counted(MIB_200, key);

    const answer = await ask({ store }, request, () => runs++);

    expect(answer.status).toBe(413);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(await answer.json()).toMatchObject({ code: "PAYLOAD_TOO_LARGE", status: 413 });
    // One chunk more shows that there is one, and the copy reads another one ahead.
    expect(read()).toBeLessThanOrEqual(DEFAULT_LIMIT + 2 * CHUNK);
    expect([runs, store.records.size]).toEqual([0, 0]);
  });

  it("reads nothing of a body whose length is known to be beyond the limit", async () => {
    const { request, read } = counted(MIB_200, { ...key, "content-length": `${MIB_200}` });

    expect((await ask({}, request, () => {})).status).toBe(413);
    expect(read()).toBe(0);
  });

  it("accepts a body of exactly the limit, and one of another limit", async () => {
    const full = counted(DEFAULT_LIMIT, key).request;
    const larger = counted(DEFAULT_LIMIT + 1, key).request;

    expect(await (await ask({}, full, () => {})).text()).toBe(`${DEFAULT_LIMIT}`);
    expect((await ask({ maxRequestBytes: DEFAULT_LIMIT + 1 }, larger, () => {})).status).toBe(201);
    expect((await ask({ maxRequestBytes: 10 }, counted(11, key).request, () => {})).status).toBe(413);
  });

  it.each<[string, Options["skip"] & {}]>([
    ["that only reads the path", () => true],
    ["that reads the body", ({ body }) => body === "{}"],
  ])("answers 413 for a body beyond 1 MiB with a `skip` %s", async (_, skip) => {
    let runs = 0;
    const { request } = counted(2 * DEFAULT_LIMIT, key);

    expect((await ask({ skip }, request, () => runs++)).status).toBe(413);
    expect(runs).toBe(0);
  });

  it("has no limit with a fingerprint that needs no body", async () => {
    const { request } = counted(2 * DEFAULT_LIMIT, key);

    const answer = await ask({ fingerprint: () => "same" }, request, () => {});

    expect(await answer.text()).toBe(`${2 * DEFAULT_LIMIT}`);
  });
});

it("A9: a limit that isn't a whole number of bytes is rejected, as is the option on Express, whose parser has one", () => {
  for (const maxRequestBytes of [0, 1.5, Number.NaN, "1mb" as never])
    expect(() => fetchIdempotency(withDefaults({ maxRequestBytes } as Limited))).toThrow(InvalidOptionError);
  expect(() => expressIdempotency(withDefaults({ maxRequestBytes: 100 } as Limited))).toThrow(
    "maxRequestBytes",
  );
});
