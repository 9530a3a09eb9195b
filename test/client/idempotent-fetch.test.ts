// One operation against a real server: what is tried again, with which key, and how it ends.

import {
  createIdempotencyKey,
  createIdempotentFetch,
  type IdempotentFetchDeadlineError,
  idempotentFetch,
  wasReplayed,
} from "onceonly/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it, test, vi } from "vitest";
import { FakeRuntime, START } from "./fake-runtime.ts";
import { type LoopbackServer, startLoopbackServer } from "./loopback-server.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const CREATED = { status: 201, body: '{"id":1}' };

let server: LoopbackServer;
let runtime: FakeRuntime;
beforeAll(async () => {
  server = await startLoopbackServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.script([]);
  runtime = new FakeRuntime();
});

const post = { method: "POST", body: '{"item":"book"}' };
const sentKeys = () => server.received.map(({ headers }) => headers["idempotency-key"]);

async function deadlineErrorOf(answer: Promise<Response>): Promise<IdempotentFetchDeadlineError> {
  return answer.then(
    (response) => expect.fail(`expected the deadline, got ${response.status}`),
    (error) => {
      expect(error.code).toBe("IDEMPOTENT_FETCH_DEADLINE");
      return error;
    },
  );
}

describe("idempotentFetch", () => {
  it("sends a UUIDv7 of the present time as an RFC 8941 string", async () => {
    server.script([CREATED]);

    await runtime.fetch(server.url, post);

    const key = /^"(.*)"$/.exec(sentKeys()[0] as string)?.[1] ?? "";
    expect(key).toMatch(UUID_V7);
    expect(Number.parseInt(key.replace("-", "").slice(0, 12), 16)).toBe(START);
  });

  it("makes a new key for every operation", async () => {
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

  it("H59: keeps key and payload across tries, also when the caller changes what it gave", async () => {
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

  it("ends at the deadline with the key, the last response and its cause", async () => {
    server.script(Array(50).fill({ status: 503, body: "busy" }));

    const error = await deadlineErrorOf(
      runtime.fetch(server.url, { ...post, key: "order-7", deadlineSeconds: 9 }),
    );

    expect(error).toMatchObject({ name: "IdempotentFetchDeadlineError", key: "order-7", retryable: true });
    expect(error.message).not.toContain("order-7");
    expect(error.tries).toBe(server.received.length);
    expect(error.cause).toBe(error.response);
    expect(await error.response?.text()).toBe("busy");
    expect(runtime.nowMs).toBeLessThan(START + 9000);
  });

  it("has the last network error as cause", async () => {
    server.script(Array(50).fill({ act: "drop" }));

    const error = await deadlineErrorOf(runtime.fetch(server.url, { ...post, deadlineSeconds: 5 }));

    expect(error.cause).toBeInstanceOf(TypeError);
    expect(error.response).toBeUndefined();
  });

  it("cuts a running try off at the deadline", async () => {
    server.script([{ act: "hang", onRequest: () => runtime.endTimer() }]);

    const error = await deadlineErrorOf(runtime.fetch(server.url, { ...post, deadlineSeconds: 5 }));

    expect(runtime.timers).toEqual([5000]);
    expect(error.cause).toMatchObject({ name: "TimeoutError" });
  });

  it("starts no try when the wait took longer than it should", async () => {
    server.script([{ status: 503 }, CREATED]);
    runtime.onSleep = () => {
      runtime.nowMs = START + 3_600_000;
    };

    await deadlineErrorOf(runtime.fetch(server.url, post));

    expect(server.received).toHaveLength(1);
  });

  it("ends at once when the server asks to wait beyond the deadline, and says how long", async () => {
    server.script([{ status: 503, headers: { "retry-after": "600" } }]);

    const error = await deadlineErrorOf(runtime.fetch(server.url, { ...post, deadlineSeconds: 60 }));

    expect(error.retryAfterMs).toBe(600_000);
    expect(runtime.waits).toEqual([]);
  });

  it("goes on later with the key of the error", async () => {
    server.script([...Array(3).fill({ status: 503, headers: { "retry-after": "3" } }), CREATED]);

    const { key } = await deadlineErrorOf(runtime.fetch(server.url, { ...post, deadlineSeconds: 8 }));
    const response = await runtime.fetch(server.url, { ...post, key });

    expect(response.status).toBe(201);
    expect(new Set(sentKeys()).size).toBe(1);
  });

  it("throws the signal's reason at once when the caller aborts a running try", async () => {
    const controller = new AbortController();
    server.script([{ act: "hang", onRequest: () => controller.abort("enough") }, CREATED]);

    await expect(runtime.fetch(server.url, { ...post, signal: controller.signal })).rejects.toBe("enough");
    expect(server.received).toHaveLength(1);
    expect(runtime.hasRunningTimer).toBe(false);
  });

  it("sends no further try when the caller aborts a wait", async () => {
    const controller = new AbortController();
    server.script([{ status: 503 }, CREATED]);
    runtime.onSleep = () => controller.abort("enough");

    await expect(runtime.fetch(server.url, { ...post, signal: controller.signal })).rejects.toBe("enough");
    expect(server.received).toHaveLength(1);
  });

  it("sends nothing and makes no key known when the signal is aborted already", async () => {
    const onKey = vi.fn();
    const signal = AbortSignal.abort("enough");

    await expect(runtime.fetch(server.url, { ...post, signal, onKey })).rejects.toBe("enough");
    await expect(
      runtime.fetch(new Request(server.url, { ...post, signal }), { onKey }),
    ).rejects.toBeDefined();

    expect(onKey).not.toHaveBeenCalled();
    expect(server.received).toHaveLength(0);
  });

  it("stops waiting for onKey when the caller aborts", async () => {
    const controller = new AbortController();
    const onKey = () => {
      controller.abort("enough");
      return new Promise<void>(() => {});
    };

    await expect(runtime.fetch(server.url, { ...post, signal: controller.signal, onKey })).rejects.toBe(
      "enough",
    );
  });

  test.each([
    ["an invalid URL", "no url", { method: "POST" }],
    ["an invalid method", "http://127.0.0.1/", { method: "a b" }],
    ["a body with GET", "http://127.0.0.1/", { method: "GET", body: "x" }],
    ["an invalid header", "http://127.0.0.1/", { headers: { "a b": "c" } }],
  ])("throws fetch's own TypeError for %s without a try", async (_, url, init) => {
    await expect(runtime.fetch(url, init)).rejects.toBeInstanceOf(TypeError);
    expect(runtime.timers).toEqual([]);
  });

  it("tries through a fetch of yours, which finds everything in init", async () => {
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
    expect(server.received[1]?.headers["idempotency-key"]).toBe(sentKeys()[0]);
  });

  it("throws an error of your fetch that is not the network's as it is", async () => {
    const loggedOut = new RangeError("logged out");

    await expect(runtime.fetch(server.url, { ...post, fetch: () => Promise.reject(loggedOut) })).rejects.toBe(
      loggedOut,
    );
  });

  it("times out a fetch of yours that ignores its signal", async () => {
    const deaf = () => {
      queueMicrotask(() => runtime.endTimer());
      return new Promise<Response>(() => {});
    };

    await deadlineErrorOf(runtime.fetch(server.url, { ...post, fetch: deaf, deadlineSeconds: 5 }));
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

describe("createIdempotencyKey", () => {
  it("makes a UUIDv7 of now, never the same", () => {
    const keys = Array.from({ length: 1000 }, createIdempotencyKey);

    expect(new Set(keys).size).toBe(1000);
    expect(keys.every((key) => UUID_V7.test(key))).toBe(true);
    expect(Math.abs(Number.parseInt(keys[0]!.replace("-", "").slice(0, 12), 16) - Date.now())).toBeLessThan(
      60_000,
    );
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
