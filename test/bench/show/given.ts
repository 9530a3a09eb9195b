// The sample as it was synthesized, with another function in the place of one of its own.
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

interface Template {
  readonly Resources: Readonly<Record<string, { readonly Metadata?: Readonly<Record<string, string>> }>>;
}

/**
 * @param replaced the id of the function's construct
 * @param entry the file of the other one
 * @returns the folder of the copy, and what removes it
 */
export async function alteredSample(
  assembly: string,
  replaced: "CreateOrder" | "ChargePayment",
  entry: URL,
): Promise<{ folder: string; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), "altered-sample-"));
  cpSync(assembly, folder, { recursive: true });
  const template = readFileSync(join(folder, "OnceonlySample.template.json"), "utf8");
  const { Resources } = JSON.parse(template) as Template;
  const resource = Object.values(Resources).find(
    ({ Metadata }) => Metadata?.["aws:cdk:path"] === `OnceonlySample/${replaced}/Resource`,
  );
  const asset = resource?.Metadata?.["aws:asset:path"];
  if (asset === undefined) throw new Error(`the template has no code for ${replaced}`);
  await build({
    entryPoints: [fileURLToPath(entry)],
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
