// What goes through the fetch that is used, and what comes out of it.
import { createIdempotentFetch } from "onceonly/client";
import { describe, expect, it, test, vi } from "vitest";
import { CREATED, post, runtime, sentKeys, server, useLoopbackServer } from "./given.ts";

useLoopbackServer();

describe("idempotentFetch", () => {
  test.each([
    ["an invalid URL", "no url", { method: "POST" }],
    ["an invalid method", "http://127.0.0.1/", { method: "a b" }],
    ["a body with GET", "http://127.0.0.1/", { method: "GET", body: "x" }],
    ["an invalid header", "http://127.0.0.1/", { headers: { "a b": "c" } }],
  ])("throws fetch's own TypeError for %s without a try", async (_, url, init) => {
    await expect(runtime.fetch(url, init)).rejects.toBeInstanceOf(TypeError);
    expect(runtime.timers).toEqual([]);
  });

  it("tries through a custom fetch, which finds everything in init", async () => {
    server.script([{ status: 503 }, CREATED]);
    const withToken = vi.fn((input: Request, init: RequestInit) =>
      fetch(input, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), authorization: "Bearer t" },
      }),
    );

    await runtime.fetch(server.url, { ...post, fetch: withToken });

    expect(withToken).toHaveBeenCalledTimes(2);
    expect(server.received[1]).toMatchObject({ method: "POST", headers: { authorization: "Bearer t" } });
    expect(sentKeys()[0]).toMatch(/^".+"$/);
    expect(sentKeys()[1]).toBe(sentKeys()[0]);
  });

  it("throws a custom fetch's error unchanged unless it is a network error", async () => {
    const loggedOut = new RangeError("logged out");

    await expect(runtime.fetch(server.url, { ...post, fetch: () => Promise.reject(loggedOut) })).rejects.toBe(
      loggedOut,
    );
  });
});

describe("createIdempotentFetch", () => {
  it("sets defaults that a call's own options win over, except undefined ones", async () => {
    const used: string[] = [];
    const through = (name: string) => (input: Request, init: RequestInit) => {
      used.push(name);
      return fetch(input, init);
    };
    const sharedFetch = createIdempotentFetch({ fetch: through("shared") });
    server.script([CREATED, CREATED]);

    await sharedFetch(server.url, { ...post, fetch: undefined });
    await sharedFetch(server.url, { ...post, fetch: through("own") });

    expect(used).toEqual(["shared", "own"]);
  });
});
