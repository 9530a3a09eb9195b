// What becomes of an invocation when the process does not live to answer it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith, hostOf, isAlive } from "./given.ts";

const pidOf = (result: { readonly payload: string }) => Number(result.payload);

describe("a crash", () => {
  it.each([
    ["process.exit(3)", "Runtime exited with error: exit status 3"],
    ["process.exit(0)", "Runtime exited without providing a reason"],
    ['process.kill(process.pid, "SIGKILL")', "Runtime exited with error: signal: killed"],
    [
      'setTimeout(() => { throw new Error("nobody catches this"); })',
      "Runtime exited with error: exit status 1",
    ],
  ])("by %s is reported as Lambda reports it", async (crash, reason) => {
    const host = await hostOf(
      `export const handler = async ({ crash }) => {
        if (!crash) return "alive";
        ${crash};
        await new Promise((resolve) => setTimeout(resolve, 5_000));
      };`,
    );

    const result = await host.invoke('{"crash":true}', { requestId: "request-9" });
    const after = await host.invoke("{}");

    expect(result).toMatchObject({
      outcome: "crashed",
      errorType: "Runtime.ExitError",
      errorMessage: `RequestId: request-9 Error: ${reason}`,
    });
    expect(after).toMatchObject({ outcome: "ok", payload: '"alive"' });
  });

  it("of a process that answered already changes nothing about its answer", async () => {
    // Ends as soon as the answer is with the operating system; any sooner, and there is none.
    const host = await hostOf(`import http from "node:http";
      const { end } = http.ClientRequest.prototype;
      http.ClientRequest.prototype.end = function (...args) {
        this.on("finish", () => this.path.endsWith("/response") && process.exit(1));
        return end.apply(this, args);
      };
      export const handler = async () => process.pid;`);

    const results = [];
    for (let i = 0; i < 5; i++) results.push(await host.invoke("{}"));

    expect(results.map(({ outcome }) => outcome)).toEqual(Array(5).fill("ok"));
    expect(new Set(results.map(({ payload }) => payload)).size).toBe(5);
  });
});

describe("kill", () => {
  const waiting = `export const handler = async ({ waitMs = 0 }) => {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    return process.pid;
  };`;

  it("ends the process of the invocation that was named, and no other", async () => {
    const host = await hostOf(waiting);
    await Promise.all([host.invoke('{"waitMs":200}'), host.invoke('{"waitMs":200}')]);
    const victim = host.invoke('{"waitMs":5000}', { requestId: "victim" });
    const survivor = host.invoke('{"waitMs":300}', { requestId: "survivor" });

    await expect.poll(() => host.kill("victim")).toBe("victim");

    expect(await victim).toMatchObject({
      outcome: "crashed",
      errorMessage: expect.stringContaining("signal: killed"),
    });
    expect(await survivor).toMatchObject({ outcome: "ok" });
  });

  it("kills any running invocation, and returns which", async () => {
    const host = await hostOf(waiting);
    await host.invoke("{}");
    const running = host.invoke('{"waitMs":5000}', { requestId: "running" });

    await expect.poll(() => host.kill()).toBe("running");

    expect((await running).outcome).toBe("crashed");
  });

  it("leaves idle processes alone", async () => {
    const host = await hostOf(waiting);
    const pid = pidOf(await host.invoke("{}"));

    expect(host.kill()).toBeUndefined();
    expect(isAlive(pid)).toBe(true);
  });
});

describe("initialization", () => {
  it.each([
    ["throw new RangeError('no such table'); export const handler = 1;", "RangeError"],
    ["export const handler = async () => {", "Runtime.UserCodeSyntaxError"],
    ["export const other = 1;", "Runtime.HandlerNotFound"],
  ])("that fails is the answer: %s", async (source, errorType) => {
    const host = await hostOf(source);

    expect(await host.invoke("{}")).toMatchObject({ outcome: "error", errorType });
  });

  it("is tried once more, so module code runs twice before the first handler call", async () => {
    const folder = await folderWith({});
    const loads = join(folder, "loads");
    const host = await hostOf(`
      import { appendFileSync, readFileSync } from "node:fs";
      appendFileSync(${JSON.stringify(loads)}, "load ");
      if (readFileSync(${JSON.stringify(loads)}, "utf8") === "load ") process.exit(1);
      export const handler = async () => "ready";
    `);

    expect(await host.invoke("{}")).toMatchObject({ outcome: "ok", payload: '"ready"' });
    expect(readFileSync(loads, "utf8")).toBe("load load ");
  });

  it("that crashes twice is reported as a crash", async () => {
    const host = await hostOf("process.exit(4);");

    expect(await host.invoke("{}")).toMatchObject({
      outcome: "crashed",
      errorMessage: expect.stringContaining("exit status 4"),
    });
  });

  it("that lasts too long the second time runs into the function's own timeout", async () => {
    const host = await hostOf(
      `import { existsSync, writeFileSync } from "node:fs";
      if (!existsSync("loaded")) { writeFileSync("loaded", ""); process.exit(1); }
      while (true);`,
      { timeoutMs: 300 },
    );

    expect(await host.invoke("{}")).toMatchObject({
      outcome: "timedOut",
      errorMessage: expect.stringContaining("0.30 seconds"),
    });
  });
});
