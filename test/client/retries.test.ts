// Which answers and failures are tried again, against a real server.
import { wasReplayed } from "onceonly/client";
import { describe, expect, it, test } from "vitest";
import { CREATED, post, runtime, sentKeys, server, useLoopbackServer } from "./given.ts";

useLoopbackServer();

describe("idempotentFetch", () => {
  it("H48: gets the first answer of a handler that outlives the gateway, by one key", async () => {
    server.script([
      { status: 504 },
      { status: 409, headers: { "retry-after": "16", "content-type": "application/problem+json" } },
      { status: 201, headers: { "idempotent-replayed": "true" }, body: '{"id":1}' },
    ]);

    const response = await runtime.fetch(server.url, post);

    expect(await response.json()).toEqual({ id: 1 });
    expect(wasReplayed(response)).toBe(true);
    expect(new Set(sentKeys()).size).toBe(1);
    expect(runtime.waits[1]).toBeGreaterThanOrEqual(16_000);
  });

  test.each([429, 500, 502, 503, 504])("tries %i again", async (status) => {
    server.script([{ status }, CREATED]);

    expect((await runtime.fetch(server.url, post)).status).toBe(201);
    expect(server.received).toHaveLength(2);
  });

  test.each([200, 201, 204, 303, 304, 400, 401, 403, 404, 408, 409, 412, 422, 425, 501])(
    "returns %i",
    async (status) => {
      server.script([{ status }, CREATED]);

      expect((await runtime.fetch(server.url, { ...post, redirect: "manual" })).status).toBe(status);
      expect(server.received).toHaveLength(1);
    },
  );

  test.each([400, 422])("returns %i even with Retry-After", async (status) => {
    server.script([{ status, headers: { "retry-after": "1" } }, CREATED]);

    expect((await runtime.fetch(server.url, post)).status).toBe(status);
  });

  it("tries 409 with Retry-After again: the operation is in progress", async () => {
    server.script([{ status: 409, headers: { "retry-after": "2" } }, CREATED]);

    expect((await runtime.fetch(server.url, post)).status).toBe(201);
    expect(runtime.waits).toEqual([2250]);
  });

  it("returns 409 with a Retry-After that cannot be read", async () => {
    server.script([{ status: 409, headers: { "retry-after": "soon" } }]);

    expect((await runtime.fetch(server.url, post)).status).toBe(409);
  });

  test.each(["drop", "cut-off"] as const)("tries again when the network fails (%s)", async (act) => {
    server.script([{ act }, CREATED]);

    const response = await runtime.fetch(server.url, post);

    expect(await response.json()).toEqual({ id: 1 });
    expect(sentKeys()[0]).toBe(sentKeys()[1]);
  });

  it("tries again with the same key when a try times out", async () => {
    server.script([{ act: "hang", onRequest: () => runtime.endTimer() }, CREATED]);

    expect((await runtime.fetch(server.url, { ...post, tryTimeoutSeconds: 3 })).status).toBe(201);
    expect(runtime.timers).toEqual([3000, 3000]);
    expect(sentKeys()[0]).toBe(sentKeys()[1]);
    expect(runtime.hasRunningTimer).toBe(false);
  });

  it("doubles the bound of its random waits up to the largest", async () => {
    server.script([...Array(5).fill({ status: 503 }), CREATED]);

    await runtime.fetch(server.url, { ...post, firstDelaySeconds: 1, maxDelaySeconds: 5 });

    expect(runtime.waits).toEqual([500, 1000, 2000, 2500, 2500]);
  });
});

describe("wasReplayed", () => {
  test.each([
    ["true", true],
    ["True", true],
    ["false", false],
    [undefined, false],
  ])("reads Idempotent-Replayed: %s as %s", (value, expected) => {
    expect(wasReplayed(new Response(null, { headers: value ? { "Idempotent-Replayed": value } : {} }))).toBe(
      expected,
    );
  });
});
