// The sample as it was synthesized, with functions that are bundled without onceonly.
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { guardDirectory } from "../../../../local/lib/process-guard.ts";

interface Template {
  readonly Resources: Readonly<Record<string, { readonly Metadata?: Readonly<Record<string, string>> }>>;
}

/** The file of each sample function that uses onceonly, by its construct's id. */
const ENTRIES = { CreateOrder: "create-order.ts", ChargePayment: "charge-payment.ts" } as const;

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * @param functions those without onceonly @default all
 * @returns the folder of the copy, and a function that removes it
 */
export async function sampleWithout(
  assembly: string,
  functions = Object.keys(ENTRIES) as (keyof typeof ENTRIES)[],
): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "onceonly-without-"));
  guardDirectory(folder);
  cpSync(assembly, folder, { recursive: true });
  const template = readFileSync(join(folder, "OnceonlySample.template.json"), "utf8");
  const { Resources } = JSON.parse(template) as Template;
  await Promise.all(
    functions.map((id) => {
      const resource = Object.values(Resources).find(
        ({ Metadata }) => Metadata?.["aws:cdk:path"] === `OnceonlySample/${id}/Resource`,
      );
      const asset = resource?.Metadata?.["aws:asset:path"];
      if (asset === undefined) throw new Error(`the template has no code for ${id}`);
      return bundle(fileAt(`../../../../../functions/${ENTRIES[id]}`), join(folder, asset, "index.mjs"));
    }),
  );
  return { folder, remove: async () => rmSync(folder, { recursive: true, force: true }) };
}

async function bundle(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    alias: { "onceonly/dynamodb": fileAt("pass-through.ts"), onceonly: fileAt("pass-through.ts") },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    mainFields: ["module", "main"],
    // The SDK has parts that still require modules of Node.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
}
