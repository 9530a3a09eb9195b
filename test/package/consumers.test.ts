// The packed tarball in empty projects, each running the first example of the README on a local DynamoDB engine.
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsumerProjects, prepareConsumerProjects } from "./consumer-projects.ts";
import { typescriptFences } from "./fences.ts";
import { type OrderTables, startOrderTables } from "./order-tables.ts";
import { root } from "./project.ts";
import { type Printed, run } from "./run.ts";

const RUNTIME_PEERS = ["@aws-sdk/client-dynamodb", "@aws-sdk/util-dynamodb", "@middy/core"];
const CONSTRUCTS = ["aws-cdk-lib", "constructs"];
const TYPES = ["@types/aws-lambda", "@types/node"];
const JEST = join(root, "node_modules/jest/bin/jest.js");
const TSC = join(root, "node_modules/typescript/bin/tsc");

const example = typescriptFences("README.md")[0]!.code;
let projects: ConsumerProjects;
let tables: OrderTables;

beforeAll(async () => {
  [projects, tables] = await Promise.all([prepareConsumerProjects(), startOrderTables()]);
}, 120_000);

afterAll(() => Promise.all([projects.remove(), tables.stop()]));

describe("the tarball", () => {
  it("holds both builds, the documents and nothing else", () => {
    const { files } = projects.tarball;
    const others = files.filter(
      (file) =>
        !/^(dist\/(esm|cjs)\/[\w/-]+(\.js|\.d\.ts)|dist\/functions\/\w+\/index\.mjs|docs\/[\w-]+\.md)$/.test(
          file,
        ),
    );

    expect(others).toEqual(["LICENSE", "README.md", "dist/cjs/package.json", "package.json"]);
    expect(files.filter((file) => /^dist\/(esm|cjs)\/(local|test)\b/.test(file))).toEqual([]);
  });

  it("has constructs in CommonJS only", () => {
    const { files } = projects.tarball;

    expect(files).toContain("dist/cjs/cdk/index.js");
    expect(files.filter((file) => file.startsWith("dist/esm/cdk/"))).toEqual([]);
  });

  it("installs one package beside itself", async () => {
    const packages = await readdir(projects.installed);

    expect(packages.filter((name) => !name.startsWith("."))).toEqual(["canonicalize", "onceonly"]);
  });
});

describe("an ESM consumer without aws-cdk-lib", () => {
  it("runs the first example once for two requests", async () => {
    const project = await projects.create("esm", RUNTIME_PEERS);
    await transpileExample(project, "esm");

    const { stdout } = await expectOneOrder(project, ["main.js"]);

    expectReplay(stdout);
  });
});

describe("a CommonJS jest consumer", () => {
  it("runs the first example once for two requests", async () => {
    const project = await projects.create("cjs-jest", [...RUNTIME_PEERS, "@jest/globals", "esbuild"]);
    await transpileExample(project, "cjs");

    const { stdout, stderr } = await expectOneOrder(project, [JEST, "--ci"]);

    expect(stderr).toContain("3 passed, 3 total");
    expectReplay(/^ *(\[.*\])$/m.exec(stdout)?.[1] ?? "");
  });
});

describe("a TypeScript consumer", () => {
  let project: string;

  beforeAll(async () => {
    project = await projects.create("typescript", [...RUNTIME_PEERS, ...CONSTRUCTS, ...TYPES]);
    await writeFile(join(project, "handler.ts"), example);
  });

  it.each([
    ["nodenext", "module"],
    ["commonjs", "commonjs"],
  ])("runs the first example once for two requests, compiled as %s", async (module, type) => {
    const out = join(project, "out", module);

    await compile(project, module);
    await writeFile(join(out, "package.json"), JSON.stringify({ type }));
    const { stdout } = await expectOneOrder(project, ["main.cjs", join(out, "handler.js")]);

    expectReplay(stdout);
  });

  it("compiles the first example for a bundler", async () => {
    await compile(project, "bundler");
  });

  it("compiles and loads a stack", async () => {
    await compile(project, "constructs");

    await run(process.execPath, ["out/constructs/stack.js"], project);
  });
});

describe("a consumer without peers", () => {
  it("imports and requires the entries that need none", async () => {
    const project = await projects.create("bare", []);

    const { stdout } = await run(process.execPath, ["main.js"], project);

    expect(stdout.trim()).toBe("function function function function");
  });

  it("is told which package onceonly/cdk lacks", async () => {
    const project = await projects.create("bare", []);
    const importing = ["--eval", 'await import("onceonly/cdk")'];

    await expect(run(process.execPath, importing, project)).rejects.toThrow("aws-cdk-lib");
  });
});

async function transpileExample(project: string, format: "cjs" | "esm"): Promise<void> {
  const { code } = await transform(example, { loader: "ts", format, target: "node20" });
  await writeFile(join(project, "handler.js"), code);
}

async function compile(project: string, settings: string): Promise<void> {
  await run(process.execPath, [TSC, "-p", `tsconfig.${settings}.json`], project);
}

/** Runs Node where the example finds its tables, and looks for one order more than before. */
async function expectOneOrder(project: string, args: readonly string[]): Promise<Printed> {
  const environment = await tables.createEnvironment();
  const before = await tables.countOrders();

  const printed = await run(process.execPath, args, project, environment);

  expect(await tables.countOrders()).toBe(before + 1);
  return printed;
}

function expectReplay(printed: string): void {
  const [first, second] = JSON.parse(printed);

  expect(first.statusCode).toBe(201);
  expect(second).toMatchObject({ statusCode: 201, body: first.body });
  expect(lowerCaseKeys(first.headers)).not.toHaveProperty("idempotent-replayed");
  expect(lowerCaseKeys(second.headers)).toHaveProperty("idempotent-replayed", "true");
}

function lowerCaseKeys(headers: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
