// The sample as it was synthesized, with an order function that has no idempotency.
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

interface Template {
  readonly Resources: Readonly<Record<string, { readonly Metadata?: Readonly<Record<string, string>> }>>;
}

/** @returns the folder of the copy, and what removes it */
export async function unprotectedSample(assembly: string) {
  const folder = await mkdtemp(join(tmpdir(), "unprotected-sample-"));
  await cp(assembly, folder, { recursive: true });
  const template = await readFile(join(folder, "OnceonlySample.template.json"), "utf8");
  const { Resources } = JSON.parse(template) as Template;
  const metadata = Object.values(Resources).map(({ Metadata = {} }) => Metadata);
  const ofFunction = metadata.find((each) => each["aws:cdk:path"] === "OnceonlySample/CreateOrder/Resource");
  await build({
    entryPoints: [fileURLToPath(new URL("unprotected-order.ts", import.meta.url))],
    outfile: join(folder, String(ofFunction?.["aws:asset:path"]), "index.mjs"),
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
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
