// The sample as it was synthesized, with a consumer that has no idempotency.
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

interface Template {
  readonly Resources: Readonly<Record<string, { readonly Metadata?: Readonly<Record<string, string>> }>>;
}

/** @returns the folder of the copy, and what removes it */
export async function naiveSample(assembly: string): Promise<{ folder: string; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), "naive-sample-"));
  cpSync(assembly, folder, { recursive: true });
  const template = readFileSync(join(folder, "OnceonlySample.template.json"), "utf8");
  const { Resources } = JSON.parse(template) as Template;
  const consumer = Object.values(Resources).find(
    ({ Metadata }) => Metadata?.["aws:cdk:path"] === "OnceonlySample/ChargePayment/Resource",
  );
  const asset = consumer?.Metadata?.["aws:asset:path"];
  if (asset === undefined) throw new Error("the template has no code for ChargePayment");
  await build({
    entryPoints: [fileURLToPath(new URL("naive-consumer.ts", import.meta.url))],
    outfile: join(folder, asset, "index.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    mainFields: ["module", "main"],
    // The SDK has parts that still require modules of Node.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
