import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { answerOf, hostIn, hostOf, isAlive } from "./given.ts";

describe("createFunctionHost", () => {
  it("gives the event and a context with Lambda's fields to the handler", async () => {
    const host = await hostOf(`
      export const handler = async (event, context) => ({
        event,
        name: context.functionName,
        arn: context.invokedFunctionArn,
        requestId: context.awsRequestId,
        memory: context.memoryLimitInMB,
        remainingMs: context.getRemainingTimeInMillis(),
      });
    `);

    const result = await host.invoke(JSON.stringify({ amount: 5, text: "žluť" }), { requestId: "request-1" });

    expect(result.requestId).toBe("request-1");
    const { remainingMs, ...fields } = answerOf(result) as { remainingMs: number };
    expect(fields).toEqual({
      event: { amount: 5, text: "žluť" },
      name: "under-test",
      arn: "arn:aws:lambda:us-east-1:000000000000:function:under-test",
      requestId: "request-1",
      memory: "128",
    });
    expect(remainingMs).toBeGreaterThan(8_000);
    expect(remainingMs).toBeLessThanOrEqual(10_000);
  });

  it("shows the function its settings and Lambda's own variables, and nothing of the environment around", async () => {
    const host = await hostOf("export const handler = async () => process.env;", {
      environment: { TABLE: "records" },
      region: "eu-central-1",
    });

    const environment = answerOf(await host.invoke("{}")) as Record<string, string>;

    expect(environment).toMatchObject({
      TABLE: "records",
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "local",
    });
    const others = Object.keys(environment).filter((name) => !/^(AWS|LAMBDA)_/.test(name));
    expect(others.sort()).toEqual(["LANG", "PATH", "TABLE", "TZ", "_HANDLER"]);
  });

  it("reports the handler's error, with its name, message and stack", async () => {
    const host = await hostOf(`
      class OutOfStock extends Error { name = "OutOfStock"; }
      export const handler = async function sell() { throw new OutOfStock("none left"); };
    `);

    const result = await host.invoke("{}");

    expect(result).toMatchObject({ outcome: "error", errorType: "OutOfStock", errorMessage: "none left" });
    expect(result.outcome === "error" && result.stackTrace.join("\n")).toContain("sell");
    expect(JSON.parse(result.payload)).toMatchObject({ errorType: "OutOfStock", errorMessage: "none left" });
  });

  it("refuses an answer that is larger than Lambda lets through", async () => {
    const host = await hostOf('export const handler = async ({ bytes }) => "x".repeat(bytes - 2);');

    expect(await host.invoke('{"bytes":6291556}')).toMatchObject({ outcome: "ok" });
    expect(await host.invoke('{"bytes":6291557}')).toMatchObject({
      outcome: "error",
      errorType: "Function.ResponseSizeTooLarge",
    });
  });

  it("runs each of several concurrent invocations in a separate process and uses them again", async () => {
    const host = await hostOf(`
      let active = 0;
      export const handler = async () => {
        const together = ++active;
        await new Promise((resolve) => setTimeout(resolve, 300));
        active--;
        return { pid: process.pid, together };
      };
    `);
    const invokeAtOnce = async () =>
      (await Promise.all([1, 2, 3].map(() => host.invoke("{}")))).map(answerOf) as {
        pid: number;
        together: number;
      }[];

    const cold = await invokeAtOnce();
    const warm = await invokeAtOnce();

    expect(new Set(cold.map(({ pid }) => pid)).size).toBe(3);
    expect(new Set(warm.map(({ pid }) => pid))).toEqual(new Set(cold.map(({ pid }) => pid)));
    expect([...cold, ...warm].map(({ together }) => together)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it("lets invocations beyond maxConcurrency wait for their turn, in order", async () => {
    const host = await hostOf("let n = 0; export const handler = async (event) => [event, ++n];", {
      maxConcurrency: 1,
    });

    const results = await Promise.all([1, 2, 3, 4].map((event) => host.invoke(String(event))));

    expect(results.map(answerOf)).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
    ]);
  });

  it("uses one process for invocations that follow each other", async () => {
    const host = await hostOf("export const handler = async () => process.pid;");
    const pids = new Set<unknown>();

    for (let i = 0; i < 50; i++) pids.add(answerOf(await host.invoke("{}")));

    expect(pids.size).toBe(1);
  });

  it("hands on the lines a function writes, a message with line breaks as one", async () => {
    const lines: string[] = [];
    const host = await hostOf(
      `export const handler = async () => { console.log("first\\nsecond"); process.stderr.write("plain\\n"); };`,
      { log: ({ functionName, stream, line }) => lines.push(`${functionName} ${stream} ${line}`) },
    );

    const { requestId } = await host.invoke("{}");

    await expect.poll(() => lines).toHaveLength(2);
    expect(lines.find((line) => line.startsWith("under-test stdout "))).toMatch(
      new RegExp(`${requestId}\\tINFO\\tfirst\\nsecond$`),
    );
    expect(lines).toContain("under-test stderr plain");
  });

  it("leaves no process and no folder when stopped, even in the middle", async () => {
    const host = await hostOf(`
      export const handler = async ({ wait }) => {
        if (wait) await new Promise((resolve) => setTimeout(resolve, 60_000));
        return { pid: process.pid, folder: process.cwd() };
      };
    `);
    const { pid, folder } = answerOf(await host.invoke("{}")) as { pid: number; folder: string };
    const running = host.invoke('{"wait":true}');

    await host.stop();

    expect(await running).toMatchObject({ outcome: "crashed" });
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(folder)).toBe(false);
    await expect(host.invoke("{}")).rejects.toThrow("is stopped");
  });

  it("can be stopped while its first process starts", async () => {
    const host = await hostOf("export const handler = async () => 1;");
    const running = host.invoke("{}");

    await host.stop();

    expect(await running).toMatchObject({ outcome: "crashed" });
  });

  it("names the folder when there is no code", async () => {
    const host = hostIn({ codeDirectory: "/no/such/folder" });

    await expect(host.invoke("{}")).rejects.toThrow(
      "can't read the code of function under-test at /no/such/folder",
    );
  });
});
