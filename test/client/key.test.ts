// One key per operation: how it is made, handed out, sent and kept.
import { createIdempotencyKey, idempotentFetch } from "onceonly/client";
import { describe, expect, it, vi } from "vitest";
import { CREATED, post, runtime, sentKeys, server, useLoopbackServer } from "./given.ts";
import { START } from "./runtime-world.ts";

useLoopbackServer();

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("idempotentFetch", () => {
  it("sends a UUIDv7 of the present time as an RFC 9651 string", async () => {
    server.script([CREATED]);

    await runtime.fetch(server.url, post);

    const key = /^"(.*)"$/.exec(sentKeys()[0] as string)?.[1] ?? "";
    expect(key).toMatch(UUID_V7);
    expect(Number.parseInt(key.replace("-", "").slice(0, 12), 16)).toBe(START);
  });

  it("creates a new key for every operation", async () => {
    server.script([CREATED, CREATED]);

    await idempotentFetch(server.url, post);
    await idempotentFetch(server.url, post);

    expect(new Set(sentKeys()).size).toBe(2);
  });

  it("hands the key out and waits for it to be kept before the first try", async () => {
    server.script([CREATED]);
    const kept: string[] = [];

    await runtime.fetch(server.url, {
      ...post,
      onKey: async (key) => {
        await new Promise((resolve) => setImmediate(resolve));
        expect(server.received).toHaveLength(0);
        kept.push(key);
      },
    });

    expect(sentKeys()).toEqual([`"${kept[0]}"`]);
  });

  it("sends nothing if the key cannot be kept", async () => {
    const full = new Error("storage is full");

    await expect(runtime.fetch(server.url, { ...post, onKey: () => Promise.reject(full) })).rejects.toBe(
      full,
    );

    expect(server.received).toHaveLength(0);
  });

  it("sends a given key, escaped, and hands it out too", async () => {
    server.script([CREATED]);
    const onKey = vi.fn();

    await runtime.fetch(server.url, { ...post, key: 'order "7" \\ a', onKey });

    expect(sentKeys()).toEqual(['"order \\"7\\" \\\\ a"']);
    expect(onKey).toHaveBeenCalledExactlyOnceWith('order "7" \\ a');
  });

  it("H59: keeps key and payload across tries, even if the caller changes its objects", async () => {
    server.script([{ status: 503 }, { status: 503 }, CREATED]);
    const body = new TextEncoder().encode("at 12:00:00");
    const headers = new Headers({ "content-type": "text/plain" });
    runtime.onSleep = () => {
      body.fill(0x20);
      headers.set("content-type", "text/html");
    };

    await runtime.fetch(server.url, { method: "POST", body, headers });

    expect(new Set(sentKeys()).size).toBe(1);
    expect(server.received.map((sent) => sent.body.toString())).toEqual(Array(3).fill("at 12:00:00"));
    expect(server.received.map((sent) => sent.headers["content-type"])).toEqual(Array(3).fill("text/plain"));
  });
});

describe("createIdempotencyKey", () => {
  it("creates a UUIDv7 for the current time, never the same", () => {
    const keys = Array.from({ length: 1000 }, createIdempotencyKey);

    expect(new Set(keys).size).toBe(1000);
    expect(keys.every((key) => UUID_V7.test(key))).toBe(true);
    expect(Math.abs(Number.parseInt(keys[0]!.replace("-", "").slice(0, 12), 16) - Date.now())).toBeLessThan(
      60_000,
    );
  });
});
