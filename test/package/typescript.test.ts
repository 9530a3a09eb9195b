// The packed tarball in projects of TypeScript. All find the types, name them in declarations and refuse mistakes. They run
// the first examples of the README on a local DynamoDB engine.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compiledFences, moduleOf, packagesIn } from "../kit/fences.ts";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";
import { isFull } from "../setup/tier.ts";
import { createInitApp } from "./apps-given.ts";
import { ENTRIES, probeOf, readDeclarations } from "./declarations-given.ts";
import { expectReplay, type OrderExample, startOrderExample } from "./example-given.ts";
import { type ConsumerProjects, prepareConsumerProjects } from "./projects-world.ts";

const RUNTIME_PEERS = ["@aws-sdk/client-dynamodb", "@middy/core"];
const CONSTRUCTS = ["aws-cdk-lib", "constructs"];
const TYPES = ["@types/aws-lambda", "@types/express", "@types/node", "@types/pg"];
const WITHOUT_MIDDY = ["onceonly-explorer", "@aws-sdk/client-dynamodb", "@types/node"];
const TSC = join(root, "node_modules/typescript/bin/tsc");
/** The last version that knows the resolution of older projects. */
const TSC_6 = join(root, "node_modules/@typescript/typescript6/bin/tsc6");
const TSX = join(root, "node_modules/tsx/dist/cli.mjs");

let projects: ConsumerProjects;
let example: OrderExample;

beforeAll(async () => {
  [projects, example] = await Promise.all([prepareConsumerProjects(), startOrderExample()]);
}, 300_000);

afterAll(() => Promise.all([projects?.remove(), example?.stop()]));

describe("a TypeScript consumer", () => {
  let project: string;

  beforeAll(async () => {
    project = await projects.create("typescript", [
      "onceonly-explorer",
      ...RUNTIME_PEERS,
      ...CONSTRUCTS,
      ...TYPES,
    ]);
    await writeFile(join(project, "handler.ts"), example.source);
  });

  it.each([
    ["nodenext", "module"],
    ["commonjs", "commonjs"],
  ])("runs the first example once for two requests, compiled as %s", async (module, type) => {
    const out = join(project, "out", module);

    await compile(project, module);
    await writeFile(join(out, "package.json"), JSON.stringify({ type }));
    const { stdout } = await example.expectOneOrder(project, ["main.cjs", join(out, "handler.js")]);

    expectReplay(stdout);
  });

  it("compiles the first example for a bundler", async () => {
    await compile(project, "bundler");
  });

  it("compiles and loads a stack", async () => {
    await compile(project, "constructs");

    await run(process.execPath, ["out/constructs/stack.js"], project);
  });

  it.each(["esm", "cjs"] as const)(
    "bundles handlers as %s without the constructs beside them",
    async (format) => {
      const { metafile } = await build({
        entryPoints: [join(project, "handler.ts")],
        absWorkingDir: project,
        outdir: join(project, "out"),
        bundle: true,
        write: false,
        metafile: true,
        format,
        platform: "node",
      });
      const inputs = Object.keys(metafile.inputs);

      expect(inputs).toContain("node_modules/onceonly/dist/esm/index.js");
      expect(
        inputs.filter((path) => /aws-cdk-lib|\/constructs\/|onceonly\/dist\/\w+\/cdk/.test(path)),
      ).toEqual([]);
    },
  );
});

describe.runIf(isFull)("an app as cdk init makes it", { timeout: 120_000 }, () => {
  let app: string;

  beforeAll(async () => {
    app = await createInitApp(projects, [...RUNTIME_PEERS, "@types/aws-lambda"]);
    await mkdir(join(app, "functions"));
    await writeFile(join(app, "functions/create-order.ts"), example.source);
    await writeFile(join(app, "functions/charge-order.ts"), example.wrapper);
    await projects.copy("cdk-app/mistakes.ts", join(app, "lib/mistakes.ts"));
    await projects.copy("typescript/main.cjs", join(app, "main.cjs"));
  });

  it("compiles a stack and the examples, emits declarations, and refuses each mistake", async () => {
    await run(process.execPath, [TSC], app);
  });

  it("runs the first example once for two requests", async () => {
    const handler = join(app, "functions/create-order.ts");

    const { stdout } = await example.expectOneOrder(app, [TSX, "main.cjs", handler]);

    expectReplay(stdout);
  });

  it("runs the wrapper once for two calls", async () => {
    await example.expectOneCharge(app, [TSX, "charge.mjs", join(app, "functions/charge-order.ts")]);
  });
});

describe.runIf(isFull).each([
  ["an older CommonJS app without types of Lambda", "older-commonjs", TSC_6],
  ["an ESM app without Middy", "esm-without-middy", TSC],
])("%s", (_, fixture, tsc) => {
  it("finds the types of all entries, refuses each mistake, and runs the wrapper once for two calls", async () => {
    const project = await projects.create(fixture, WITHOUT_MIDDY);
    await projects.copy("typescript/entries.ts", join(project, "entries.ts"));
    await writeFile(join(project, "handler.ts"), example.wrapper);

    await run(process.execPath, [tsc], project);

    await example.expectOneCharge(project, ["charge.mjs", join(project, "out/handler.js")]);
  });
});

describe("a project that emits declarations", () => {
  const fences = compiledFences();
  const ofPackages = fences
    .flatMap(packagesIn)
    .filter((name) => name !== "onceonly" && name !== "aws-lambda");
  const moduleOfEntry = (entry: string) => `${entry.replace("/", "-")}.mts`;
  let errors: readonly string[];

  beforeAll(async () => {
    const peers = new Set([...RUNTIME_PEERS, ...CONSTRUCTS, ...TYPES, ...ofPackages]);
    const project = await projects.create("declarations", [...peers]);
    const declarations = await readDeclarations(join(projects.installed, "onceonly/dist/cjs"));
    for (const entry of ENTRIES) {
      await writeFile(join(project, moduleOfEntry(entry)), probeOf(entry, declarations));
    }
    for (const fence of fences) await writeFile(join(project, moduleOf(fence)), fence.code);
    errors = await errorsOf(project);
  }, 180_000);

  it.each(ENTRIES)("can name every type that an export of %s names", (entry) => {
    expect(errors.filter((error) => error.startsWith(moduleOfEntry(entry)))).toEqual([]);
  });

  it.each(fences.map((fence) => [`${fence.file}:${fence.line}`, fence] as const))(
    "can name every type of %s",
    (_, fence) => {
      expect(errors.filter((error) => error.startsWith(moduleOf(fence)))).toEqual([]);
    },
  );

  it("has no other error", () => {
    const modules = [...ENTRIES.map(moduleOfEntry), ...fences.map(moduleOf)];

    expect(errors.filter((error) => !modules.some((module) => error.startsWith(module)))).toEqual([]);
  });
});

async function compile(project: string, settings: string): Promise<void> {
  await run(process.execPath, [TSC, "-p", `tsconfig.${settings}.json`], project);
}

/** What the compiler says about a project, one entry per error. */
async function errorsOf(project: string): Promise<string[]> {
  const failed = run(process.execPath, [TSC, "--pretty", "false"], project).then(
    () => "",
    (error: Error) => (error.cause as { readonly stdout: string }).stdout,
  );
  return (await failed).split(/\n(?! )/).filter((line) => line !== "");
}
