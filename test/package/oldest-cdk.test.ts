// Apps that are not ours synthesize with the oldest CDK that the packed tarball takes. Their resources are the same as with the
// newest. That CDK comes from the registry.
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OLDEST_CDK } from "../../lib/cdk/installed.ts";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";
import { type ConsumerProjects, prepareConsumerProjects } from "./projects-world.ts";

const TSX = join(root, "node_modules/tsx/dist/cli.mjs");
/** Functions are not bundled: their code is the same with each CDK. */
const UNBUNDLED = { CDK_CONTEXT_JSON: '{"aws:cdk:bundling-stacks":[]}' };

let projects: ConsumerProjects;
let home: string;
let missing: string | undefined;

beforeAll(async () => {
  projects = await prepareConsumerProjects();
  home = await realpath(await mkdtemp(join(tmpdir(), "oldest-cdk-")));
  const { peerDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const constructs = peerDependencies.constructs.replace(/^\D/, "");
  for (const [name, packages] of [
    ["oldest", [`aws-cdk-lib@${OLDEST_CDK}`, `constructs@${constructs}`]],
    ["newest", []],
  ] as const) {
    const folder = join(home, name);
    await mkdir(folder);
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    const modules = join(folder, "node_modules");
    if (packages.length === 0) {
      await mkdir(modules);
      for (const each of ["aws-cdk-lib", "constructs"])
        await symlink(join(root, "node_modules", each), join(modules, each), "junction");
    } else {
      try {
        await run("npm", ["install", ...packages, "--no-audit", "--no-fund"], folder);
      } catch {
        missing = `no ${packages.join(", ")} from the registry: not synthesized with them`;
        console.warn(missing);
        return;
      }
    }
    await cp(projects.installed, modules, { recursive: true, verbatimSymlinks: true });
    // Without it CDK would build an image to bundle in.
    await symlink(join(root, "node_modules/esbuild"), join(modules, "esbuild"), "junction");
  }
}, 240_000);

afterAll(() => Promise.all([projects.remove(), rm(home, { recursive: true, force: true })]));

/** The type of each resource, by its template and logical id. */
async function resourcesOf(cdk: "oldest" | "newest", app: string): Promise<Record<string, string>> {
  const folder = join(home, cdk, app);
  await cp(join(root, "test/fixtures", app), folder, { recursive: true });
  const isOld = existsSync(join(folder, "app.js"));
  await writeFile(join(folder, "package.json"), isOld ? "{}" : '{ "type": "module" }');
  await writeFile(join(folder, "package-lock.json"), "{}");
  const outdir = join(folder, "cdk.out");
  await run(process.execPath, isOld ? ["app.js"] : [TSX, "app.ts"], folder, {
    ...UNBUNDLED,
    CDK_OUTDIR: outdir,
    CDK_VALIDATION: "false",
  });
  const files = (await readdir(outdir, { recursive: true })).filter((file) =>
    file.endsWith(".template.json"),
  );
  const templates = files.map(async (file) => {
    const { Resources } = JSON.parse(await readFile(join(outdir, file), "utf8")) as {
      Resources: Record<string, { Type: string }>;
    };
    return Object.entries(Resources).map(([id, { Type }]) => [`${file} ${id}`, Type] as const);
  });
  return Object.fromEntries((await Promise.all(templates)).flat());
}

describe(`with aws-cdk-lib ${OLDEST_CDK}`, () => {
  // B4: `inner-network` has every construct, in a network and traced.
  it.for([
    "inner-network",
    "ticket-office",
    "parcel-service",
    "shop-stages",
    "freight-desk",
    "consumers/old-kiosk",
  ])(
    "%s has the resources that it has with the newest",
    {
      timeout: 120_000,
    },
    async (app, { skip }) => {
      if (missing) skip(missing);
      const [oldest, newest] = [await resourcesOf("oldest", app), await resourcesOf("newest", app)];

      expect(Object.keys(oldest).length).toBeGreaterThan(15);
      expect(Object.values(oldest)).toContain("AWS::DynamoDB::GlobalTable");
      expect(oldest).toEqual(newest);
    },
  );

  it("an older CDK is rejected by the installed package, with what to do", async ({ skip }) => {
    if (missing) skip(missing);
    const modules = join(home, "oldest/node_modules/aws-cdk-lib");
    const manifest = await readFile(join(modules, "package.json"), "utf8");
    await writeFile(
      join(modules, "package.json"),
      manifest.replace(`"version": "${OLDEST_CDK}"`, '"version": "2.200.0"'),
    );

    const failure = run(
      process.execPath,
      ["--input-type=module", "-e", 'await import("onceonly/cdk")'],
      join(home, "oldest"),
    );

    await expect(failure).rejects.toThrow(
      `onceonly/cdk needs aws-cdk-lib ${OLDEST_CDK} or later, but 2.200.0 is installed`,
    );
    await writeFile(join(modules, "package.json"), manifest);
  });
});
