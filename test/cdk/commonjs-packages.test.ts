// Functions are bundled and started as Lambda starts them: what the bundler accepts may still fail at its first start.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { App, Stack } from "aws-cdk-lib";
import { type BundlingOptions, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { IdempotencyTable, IdempotentFunction } from "onceonly/cdk";
import { afterEach, describe, expect, it } from "vitest";

const outdir = mkdtempSync(join(tmpdir(), "commonjs-packages-"));
afterEach(() => rmSync(outdir, { recursive: true, force: true }));

const entry = fileURLToPath(new URL("../fixtures/commonjs-packages/handler.ts", import.meta.url));

/** What the bundled handler answers in a process of its own. */
function answerOf(bundling: BundlingOptions | undefined): unknown {
  const stack = new Stack(
    new App({ outdir, builtinCloudFormationValidation: false, analyticsReporting: false }),
    "Test",
  );
  new IdempotentFunction(stack, "Fn", { entry, table: new IdempotencyTable(stack, "Table"), bundling });
  const bundles = readdirSync(outdir, { recursive: true, encoding: "utf8" }).filter((file) =>
    /index\.(mjs|js)$/.test(file),
  );
  expect(bundles).toHaveLength(1);
  const script = `const { handler } = await import("${pathToFileURL(join(outdir, bundles[0]!))}");
    console.log(JSON.stringify(await handler()));`;
  return JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }),
  );
}

describe("an IdempotentFunction with packages that require Node's own modules", () => {
  it.each<[string, BundlingOptions | undefined]>([
    ["as it is bundled by default", undefined],
    ["not minified", { minify: false }],
    ["with a banner of its own", { banner: "globalThis.hasBanner = true;" }],
    ["as CommonJS", { format: OutputFormat.CJS, define: { "import.meta.url": '"file:///index.js"' } }],
  ])("starts, %s", (_, bundling) => {
    expect(answerOf(bundling)).toEqual({
      axios: "/orders?id=1",
      autocannon: "function",
      pg: "database",
      stripe: "function",
      undici: true,
      require: "b",
    });
  });
});
