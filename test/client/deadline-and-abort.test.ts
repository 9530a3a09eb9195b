// How an operation ends without an answer: by its deadline or by its caller.
import type { IdempotentFetchDeadlineError } from "onceonly/client";
import { describe, expect, it, vi } from "vitest";
import { CREATED, post, runtime, sentKeys, server, useLoopbackServer } from "./given.ts";
import { START } from "./runtime-world.ts";

useLoopbackServer();

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

  it("starts no try when the wait lasted longer than it should", async () => {
    server.script([{ status: 503 }, CREATED]);
    runtime.onSleep = () => {
      runtime.nowMs = START + 3_600_000;
    };

    await deadlineErrorOf(runtime.fetch(server.url, post));

    expect(server.received).toHaveLength(1);
  });

  it("ends immediately when the server asks to wait beyond the deadline, and reports how long", async () => {
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

  it("throws the signal's reason immediately when the caller aborts a running try", async () => {
    const controller = new AbortController();
    server.script([{ act: "hang", onRequest: () => controller.abort("enough") }, CREATED]);

    await expect(runtime.fetch(server.url, { ...post, signal: controller.signal })).rejects.toBe("enough");
    expect(server.received).toHaveLength(1);
    expect(runtime.hasRunningTimer).toBe(false);
  });

  it("ends the connection of a try that the caller aborts, and doesn't report a network error", async () => {
    const controller = new AbortController();
    const reason = new DOMException("enough", "AbortError");
    server.script([{ act: "hang", onRequest: () => controller.abort(reason) }]);
    const init = { ...post, signal: controller.signal, deadlineSeconds: 0.001 };

    await expect(runtime.fetch(server.url, init)).rejects.toBe(reason);

    await server.idle();
  });

  it("sends no further try when the caller aborts a wait", async () => {
    const controller = new AbortController();
    server.script([{ status: 503 }, CREATED]);
    runtime.onSleep = () => controller.abort("enough");

    await expect(runtime.fetch(server.url, { ...post, signal: controller.signal })).rejects.toBe("enough");
    expect(server.received).toHaveLength(1);
  });

  it("sends nothing and reveals no key when the signal is already aborted", async () => {
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

  it("times out a custom fetch that ignores its signal", async () => {
    const deaf = () => {
      queueMicrotask(() => runtime.endTimer());
      return new Promise<Response>(() => {});
    };

    await deadlineErrorOf(runtime.fetch(server.url, { ...post, fetch: deaf, deadlineSeconds: 5 }));
  });
});
