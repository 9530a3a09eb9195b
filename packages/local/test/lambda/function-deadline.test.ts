import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { folderWith, hostOf, isAlive } from "./given.ts";

const pidOf = (result: { readonly payload: string }) => Number(result.payload);

describe("the deadline", () => {
  it("kills a function that runs out of time, even one that never yields", async () => {
    const host = await hostOf(
      `export const handler = async ({ hang }) => { while (hang); return process.pid; };`,
      { timeoutMs: 400 },
    );
    const pid = pidOf(await host.invoke("{}"));
    const startedAt = performance.now();

    const result = await host.invoke('{"hang":true}', { requestId: "request-7" });

    expect(performance.now() - startedAt).toBeGreaterThan(390);
    expect(result).toEqual({
      outcome: "timedOut",
      requestId: "request-7",
      errorType: "Sandbox.Timedout",
      errorMessage: "RequestId: request-7 Error: Task timed out after 0.40 seconds",
      payload:
        '{"errorType":"Sandbox.Timedout","errorMessage":"RequestId: request-7 Error: Task timed out after 0.40 seconds"}',
    });
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it("starts a new process for the invocation after a killed one", async () => {
    const host = await hostOf(
      `export const handler = async ({ hang }) => { while (hang); return process.pid; };`,
      { timeoutMs: 400 },
    );
    const first = pidOf(await host.invoke("{}"));
    await host.invoke('{"hang":true}');

    const second = await host.invoke("{}");

    expect(second.outcome).toBe("ok");
    expect(pidOf(second)).not.toBe(first);
  });

  it("continues after the response until the function finishes the work that it left running", async () => {
    const host = await hostOf(
      // Hangs once the answer is with the operating system, and before it asks for the next invocation.
      `import http from "node:http";
      const { end } = http.ClientRequest.prototype;
      let hangs = false;
      http.ClientRequest.prototype.end = function (...args) {
        this.on("finish", () => { while (hangs && this.path.endsWith("/response")); });
        return end.apply(this, args);
      };
      export const handler = async ({ hang }) => { hangs = hang; return process.pid; };`,
      { timeoutMs: 400 },
    );

    const answered = await host.invoke('{"hang":true}');
    const next = await host.invoke("{}");

    expect([answered.outcome, next.outcome]).toEqual(["ok", "ok"]);
  });
});

describe("the freeze between invocations", () => {
  it("stops work that was left running, and lets it continue in the next invocation", async () => {
    const folder = await folderWith({});
    const mark = join(folder, "late-write");
    const host = await hostOf(`
      import { writeFileSync } from "node:fs";
      export const handler = async ({ waitMs }) => {
        if (waitMs) await new Promise((resolve) => setTimeout(resolve, waitMs));
        else setTimeout(() => writeFileSync(${JSON.stringify(mark)}, ""), 300);
      };
    `);
    await host.invoke("{}");
    // A busy machine freezes late, but not by 300 ms.
    await delay(600);
    const whileFrozen = existsSync(mark);

    await host.invoke('{"waitMs":100}');

    expect(whileFrozen).toBe(false);
    expect(existsSync(mark)).toBe(true);
  });

  it("stops timers: an interval of 5 ms hardly ticks in half a second", async () => {
    const host = await hostOf(`
      let ticks = 0;
      setInterval(() => ticks++, 5);
      export const handler = async () => ticks;
    `);
    await host.invoke("{}");
    await delay(500);

    const ticks = Number((await host.invoke("{}")).payload);

    expect(ticks).toBeLessThan(20);
  });
});
