// The packed tarball in empty projects of JavaScript. Handlers run the first example of the README on a local DynamoDB
// engine, and apps synthesize a stack. Projects of TypeScript have typescript.test.ts.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROJECT_URL } from "../../lib/contract.ts";
import { root } from "../kit/project.ts";
import { type Printed, run } from "../kit/run.ts";
import { isFull } from "../setup/tier.ts";
import { createInitApp, createModulesApp, synthesize } from "./apps-given.ts";
import { expectReplay, type OrderExample, startOrderExample } from "./example-given.ts";
import { type ConsumerProjects, prepareConsumerProjects } from "./projects-world.ts";

const RUNTIME_PEERS = ["@aws-sdk/client-dynamodb", "@middy/core"];
const WITH_EXPLORER = [...RUNTIME_PEERS, "onceonly-explorer"];
const JEST = join(root, "node_modules/jest/bin/jest.js");

let projects: ConsumerProjects;
let example: OrderExample;

beforeAll(async () => {
  [projects, example] = await Promise.all([prepareConsumerProjects(), startOrderExample()]);
}, 300_000);

afterAll(() => Promise.all([projects?.remove(), example?.stop()]));

async function textsIn(folder: string): Promise<string[]> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith(".js"));
  return Promise.all(paths.map((path) => readFile(join(folder, path), "utf8")));
}

describe("the tarball", () => {
  it("has less than 550 files and 1.2 MB", () => {
    const { files, bytes } = projects.tarballs.onceonly!;

    console.log(`the tarball: ${files.length} files, ${(bytes / 1000).toFixed(0)} KB`);
    expect(files.length).toBeLessThan(550);
    expect(bytes).toBeLessThan(1_200_000);
  });

  it("holds both builds, the documents and nothing else", () => {
    const { files } = projects.tarballs.onceonly!;
    const others = files.filter(
      (file) =>
        !/^(dist\/(esm|cjs)\/[\w/-]+(\.js|\.d\.ts)|dist\/functions\/\w+\/index\.mjs|docs\/[\w/-]+\.(md|svg))$/.test(
          file,
        ),
    );

    expect(others).toEqual([
      "LICENSE",
      "README.md",
      "dist/cjs/package.json",
      "dist/sbom.cdx.json",
      "package.json",
    ]);
  });

  it("contains nothing from the sibling packages, whose tarballs hold both builds or one", async () => {
    const texts = await textsIn(join(projects.withTools, "onceonly/dist"));
    const ofTools = await Promise.all(
      ["explorer", "local", "cli"].map((name) => textsIn(join(projects.withTools, `onceonly-${name}/dist`))),
    );

    for (const said of [
      // The model of DynamoDB, a local function host, and the doctor.
      "Supplied AttributeValue is empty",
      "create a new host to invoke it",
      "check a synthesized stack against the go-live checklist",
    ]) {
      expect(texts.filter((text) => text.includes(said))).toEqual([]);
      expect(
        ofTools.flat().some((text) => text.includes(said)),
        said,
      ).toBe(true);
    }
    for (const [name, { files }] of Object.entries(projects.tarballs)) {
      console.log(`${name}: ${files.length} files, ${(projects.tarballs[name]!.bytes / 1000).toFixed(0)} KB`);
      expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
    }
  });

  it("holds each file that the README links to", async () => {
    const readme = await readFile(join(projects.installed, "onceonly/README.md"), "utf8");
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path!);

    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((path) => !existsSync(join(projects.installed, "onceonly", path)))).toEqual([]);
  });

  it("leads from TSDoc to each document by its address", async () => {
    const dist = join(projects.installed, "onceonly/dist/cjs");
    const paths = (await readdir(dist, { recursive: true })).filter((path) => path.endsWith(".d.ts"));
    const types = await Promise.all(paths.map((path) => readFile(join(dist, path), "utf8")));
    const named = types.flatMap((text) => [...text.matchAll(/(\S*?)(docs\/[\w./-]+\.md)/g)]);

    expect(named.length).toBeGreaterThan(5);
    for (const [, before, path] of named) {
      expect(before).toMatch(new RegExp(`${PROJECT_URL}/blob/main/$`));
      expect(existsSync(join(root, path!)), path).toBe(true);
    }
  });

  it("has constructs in CommonJS only", () => {
    const { files } = projects.tarballs.onceonly!;

    expect(files).toContain("dist/cjs/cdk/index.js");
    expect(files.filter((file) => file.startsWith("dist/esm/cdk/"))).toEqual([]);
  });

  it("has the functions of OutboxRelay, bundled, and no notices, since they carry no code of others", () => {
    const { files } = projects.tarballs.onceonly!;

    expect(files.filter((file) => file.startsWith("dist/functions/"))).toEqual([
      "dist/functions/outbox/index.mjs",
    ]);
  });

  it("installs no other package", async () => {
    const packages = await readdir(projects.installed);

    expect(packages.filter((name) => !name.startsWith("."))).toEqual(["onceonly"]);
  });
});

describe("an ESM consumer without aws-cdk-lib", () => {
  it("runs the first example once for two requests", async () => {
    const project = await projects.create("esm", RUNTIME_PEERS);
    await example.transpile(project, "esm");

    const { stdout } = await example.expectOneOrder(project, ["main.js"]);

    expectReplay(stdout);
  });
});

describe("the entries of one format", () => {
  it.each([
    ["module", "await import"],
    ["commonjs", "require"],
  ])("have the same classes of errors (%s)", async (type, load) => {
    const project = await projects.create("bare", WITH_EXPLORER);
    const script = `
      const { InvalidOptionError, ClaimLostError } = ${load}("onceonly");
      const { Simulator } = ${load}("onceonly-explorer");
      const { DynamoDBStore } = ${load}("onceonly/lean");
      for (const Class of [Simulator, DynamoDBStore]) {
        try {
          new Class({ unknown: true });
        } catch (error) {
          console.log(error instanceof InvalidOptionError, error instanceof ClaimLostError, error.stack.split("\\n")[0]);
        }
      }`;

    const { stdout } = await run(process.execPath, [`--input-type=${type}`, "--eval", script], project);

    expect(stdout).toMatch(/^true false InvalidOptionError.*\ntrue false InvalidOptionError.*\n$/);
  });
});

describe("an uncaught error", () => {
  it.each([
    ["module", "await import"],
    ["commonjs", "require"],
  ])("prints the line that threw it, not minified code (%s)", async (type, load) => {
    const project = await projects.create("bare", WITH_EXPLORER);
    const script = `const { runOnce } = ${load}("onceonly"); runOnce();`;

    const { stderr } = await run(process.execPath, [`--input-type=${type}`, "--eval", script], project).catch(
      ({ cause }) => cause as Printed,
    );

    expect(stderr).toContain("call runOnce(options, key, input, fn)");
    expect(Math.max(...stderr.split("\n").map((line) => line.length))).toBeLessThan(300);
  });
});

describe("the simulator of each format", () => {
  it.each([
    ["module", "await import"],
    ["commonjs", "require"],
  ])("runs a handler with the SDK in virtual time, and loses an answer (%s)", async (type, load) => {
    const project = await projects.create("bare", WITH_EXPLORER);
    const script = `
      const { Simulator } = ${load}("onceonly-explorer");
      const { idempotent } = ${load}("onceonly");
      const { DynamoDBStore } = ${load}("onceonly/dynamodb");
      const aws = new Simulator();
      aws.table("records", { partitionKey: "pk" });
      aws.faults = ({ number }) => (number === 1 ? { kind: "lost-answer" } : undefined);
      let runs = 0;
      const store = new DynamoDBStore({ tableName: "records" });
      const count = async () => {
        await new Promise((wake) => setTimeout(wake, 3000));
        return ++runs;
      };
      const fn = aws.lambda(idempotent(count, { operation: "count", store, key: () => "1" }), { timeoutSeconds: 10 });
      aws
        .run(async () => [await fn.invoke({}), await fn.invoke({})])
        .then((all) => console.log(all.map(({ outcome, value }) => outcome + value).join(), runs, /lost-answer/.test(aws.traceText())));`;

    const { stdout } = await run(process.execPath, [`--input-type=${type}`, "--eval", script], project);

    expect(stdout).toBe("returned1,returned1 1 true\n");
  });
});

describe("a bundle of the published modules", () => {
  it.each(["runOnce", "httpIdempotency", "isOnceonlyError"])(
    "carries for %s no more than a bundle of the sources",
    async (name) => {
      const project = await projects.create("bare", RUNTIME_PEERS);
      const [published, sources] = await Promise.all(
        [join(project, "node_modules/onceonly/dist/esm/index.js"), join(root, "lib/index.ts")].map(
          async (entry) => {
            const { outputFiles } = await build({
              stdin: { contents: `export { ${name} } from ${JSON.stringify(entry)};`, resolveDir: project },
              bundle: true,
              minify: true,
              write: false,
              format: "esm",
              platform: "node",
              target: "node22",
              external: ["@aws-sdk/*", "@middy/*"],
            });
            return outputFiles[0]!.contents.byteLength;
          },
        ),
      );

      expect(published!).toBeLessThanOrEqual(sources! * 1.001);
    },
  );
});

if (isFull) {
  describe("a CommonJS jest consumer without aws-cdk-lib", () => {
    it("runs the first example once for two requests", async () => {
      const project = await projects.create("cjs-jest", [...WITH_EXPLORER, "@jest/globals", "esbuild"]);
      await example.transpile(project, "cjs");

      const { stdout, stderr } = await example.expectOneOrder(project, [JEST, "--ci"]);

      expect(stderr).toContain("3 passed, 3 total");
      expectReplay(/^ *(\[.*\])$/m.exec(stdout)?.[1] ?? "");
    });
  });
}

if (isFull) {
  describe("a CDK app", { timeout: 90_000 }, () => {
    let made: string;
    let modules: string;

    beforeAll(async () => {
      [made, modules] = await Promise.all([createInitApp(projects), createModulesApp(projects)]);
    });

    it("as cdk init makes it passes its jest test", async () => {
      const { stderr } = await run(process.execPath, [JEST, "--ci"], made);

      expect(stderr).toContain("3 passed, 3 total");
    });

    it("synthesizes the same with tsx as CommonJS and as ES modules", async () => {
      const [template, fromModules] = await Promise.all([
        synthesize(made, "bin/shop.ts"),
        synthesize(modules, "app.ts"),
      ]);

      expect(Object.keys(template.Resources).length).toBeGreaterThan(0);
      expect(fromModules).toEqual(template);
    });
  });
}

describe("a consumer without peers", () => {
  it("imports and requires the entries that need none", async () => {
    const project = await projects.create("bare", []);

    const { stdout } = await run(process.execPath, ["main.js"], project);

    expect(stdout.trim()).toBe("function function function function");
  });

  it.each(['await import("onceonly/cdk")', 'require("onceonly/cdk")'])(
    "learns from %s which package it lacks",
    async (statement) => {
      const project = await projects.create("bare", []);
      const flags = statement.startsWith("await") ? ["--input-type=module"] : ["--input-type=commonjs"];

      await expect(run(process.execPath, [...flags, "--eval", statement], project)).rejects.toThrow(
        "npm install aws-cdk-lib constructs",
      );
    },
  );
});
