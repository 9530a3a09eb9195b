// What a browser gets: nothing of Node, nothing of the rest of the package, and not much of it.
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const MAX_BYTES = 6 * 1024;

async function bundle(format: "esm" | "iife") {
  const result = await build({
    entryPoints: [fileURLToPath(new URL("../../lib/client/index.ts", import.meta.url))],
    bundle: true,
    platform: "browser",
    format,
    globalName: format === "iife" ? "client" : undefined,
    minify: true,
    write: false,
    metafile: true,
  });
  return {
    code: result.outputFiles[0]!.text,
    bytes: result.outputFiles[0]!.contents.length,
    ...result.metafile,
  };
}

describe("onceonly/client", () => {
  it("bundles for the browser without node: and without the rest of the package", async () => {
    const { code, inputs, outputs } = await bundle("esm");

    expect(code).not.toContain("node:");
    expect(Object.values(outputs).flatMap((output) => output.imports)).toEqual([]);
    expect(Object.keys(inputs).filter((path) => !path.includes("lib/client/"))).toEqual([]);
  });

  it(`is smaller than ${MAX_BYTES} bytes minified`, async () => {
    const { bytes } = await bundle("esm");

    console.log(`onceonly/client, minified: ${bytes} bytes`);
    expect(bytes).toBeLessThan(MAX_BYTES);
  });

  it("runs with only the globals of a browser", async () => {
    const { code } = await bundle("iife");
    const sent: RequestInit[] = [];
    const answers = [new Response(null, { status: 503 }), new Response("done")];
    const browser = {
      ...{ AbortController, crypto, DOMException, Headers, Request, Response },
      ...{
        clearTimeout,
        setTimeout: (onEnd: () => void, ms: number) => setTimeout(onEnd, Math.min(ms, 1000)),
      },
      fetch: async (_: Request, init: RequestInit) => {
        sent.push(init);
        return answers[sent.length - 1];
      },
    };

    const call =
      'client.idempotentFetch("https://shop.test/orders", { method: "POST", body: "x", firstDelaySeconds: 0.001 })';
    const response = await runInNewContext(`${code}; ${call}`, browser);

    expect(await response.text()).toBe("done");
    expect(sent).toHaveLength(2);
    expect(sent[0]?.headers).toEqual(sent[1]?.headers);
  });
});
