// The packed tarball in a project without any peer. Each entry loads as an ES module, as CommonJS and in a bundle, or says
// which package to install.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PACKAGES } from "../../tools/entries.mjs";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";
import { isFull } from "../setup/tier.ts";
import { type ConsumerProjects, prepareConsumerProjects } from "./projects-world.ts";

/** What each entry can't be loaded without. */
const NEEDS: Readonly<Record<string, string>> = {
  "onceonly/cdk": "aws-cdk-lib constructs",
  "onceonly/dynamodb": "@aws-sdk/client-dynamodb",
  "onceonly/otel": "@opentelemetry/api",
};
const ENTRIES = Object.keys(PACKAGES.onceonly.entries).map((entry) => `onceonly${entry.slice(1)}`);
const NEEDY = ENTRIES.filter((entry) => entry in NEEDS);
const FREE = ENTRIES.filter((entry) => !(entry in NEEDS));
/** Side by side, which takes a process; in the full tier each alone. */
const LOADED: [title: string, entries: string[]][] = isFull
  ? FREE.map((entry) => [entry, [entry]])
  : [["each other entry", FREE]];
const RUNTIME = NEEDY.filter((entry) => !entry.includes("cdk"));

/** How a project loads an entry, without a bundler. */
const LOADS = [
  ["an ES module", "module", (entry: string) => `await import("${entry}")`],
  ["CommonJS", "commonjs", (entry: string) => `require("${entry}")`],
] as const;

let projects: ConsumerProjects;
let project: string;

beforeAll(async () => {
  projects = await prepareConsumerProjects();
  project = await projects.create("bare", []);
}, 300_000);

afterAll(() => projects?.remove());

const evaluate = (type: string, code: string, folder = project) =>
  run(process.execPath, [`--input-type=${type}`, "--eval", code], folder);

/** A handler that uses the root entry and nothing of DynamoDB. */
const handlerSource = (load: (entry: string) => string) => `
  const { httpIdempotent, isOnceonlyError } = ${load("onceonly")};
  const { MemoryStore } = ${load("onceonly/testing")};
  const store = new MemoryStore();
  const handler = httpIdempotent(async () => ({ statusCode: 201 }), { operation: "order", scope: "public", store });
  const event = {
    version: "2.0", rawPath: "/", rawQueryString: "", headers: { "idempotency-key": "k1" }, isBase64Encoded: false,
    requestContext: { http: { method: "POST", path: "/" } },
  };
  handler(event, { getRemainingTimeInMillis: () => 3000 }).then(({ statusCode }) => console.log(statusCode));`;

describe.each(LOADS)("without any peer, in %s", (_, type, load) => {
  it.each(LOADED)("%s loads", async (_, entries) => {
    await evaluate(type, entries.map((entry) => `${load(entry)};`).join("\n"));
  });

  it.each(NEEDY)("%s names the package to install", async (entry) => {
    const failed = evaluate(type, `${load(entry)};`);

    await expect(failed).rejects.toThrow(`npm install ${NEEDS[entry]}\n`);
    await expect(failed).rejects.toThrow(/: onceonly\/[\w-]+ needs /);
  });

  it("a handler over another store answers", async () => {
    const { stdout } = await evaluate(type, handlerSource(load));

    expect(stdout).toBe("201\n");
  });
});

const bundle = (contents: string, folder: string, more: BuildOptions) =>
  build({
    stdin: { contents, resolveDir: folder },
    absWorkingDir: folder,
    bundle: true,
    write: false,
    platform: "node",
    target: "node20",
    logLevel: "silent",
    ...more,
  });

async function runBundle(contents: string, more: BuildOptions, folder = project) {
  const { outputFiles } = await bundle(contents, folder, more);
  const file = join(folder, `bundle.${more.format === "cjs" ? "cjs" : "mjs"}`);
  await writeFile(file, outputFiles![0]!.text);
  return run(process.execPath, [file], folder);
}

describe.each(["esm", "cjs"] as const)("without any peer, in a bundle (%s)", (format) => {
  it.each(LOADED)("%s loads", async (_, entries) => {
    const lines = entries.map(
      (entry, nth) =>
        `import * as entry${nth} from "${entry}"; console.log(Object.keys(entry${nth}).length);`,
    );
    await runBundle(lines.join("\n"), { format });
  });

  it.each(RUNTIME)("%s fails the build, which names the package", async (entry) => {
    const built = bundle(`export * from "${entry}";`, project, { format });

    await expect(built).rejects.toThrow(`Could not resolve "${NEEDS[entry]}"`);
  });

  it.each(RUNTIME)("%s names the package to install, from a bundle that leaves it out", async (entry) => {
    const built = runBundle(`const entry = require("${entry}"); console.log(Object.keys(entry).length);`, {
      format: "cjs",
      external: [NEEDS[entry]!],
      conditions: format === "cjs" ? [] : ["module"],
    });

    await expect(built).rejects.toThrow(`${entry} needs ${NEEDS[entry]}: npm install ${NEEDS[entry]}\n`);
  });

  it("a handler over another store answers", async () => {
    const contents = handlerSource((entry) => `require("${entry}")`).replaceAll(
      /const (\{[^}]+\}) = require\(("[^"]+")\)/g,
      "import $1 from $2",
    );
    const { stdout } = await runBundle(contents, { format });

    expect(stdout).toBe("201\n");
  });
});

describe("an installed package that lacks one of its dependencies", () => {
  it.each(LOADS)("is reported unchanged (%s)", async (_, type, load) => {
    const broken = await projects.create("bare", []);
    const folder = join(broken, "node_modules/@opentelemetry/api");
    await run("mkdir", ["-p", folder], broken);
    await writeFile(join(folder, "package.json"), '{ "name": "@opentelemetry/api", "main": "index.js" }');
    await writeFile(join(folder, "index.js"), 'require("@opentelemetry/gone");');

    await expect(evaluate(type, `${load("onceonly/otel")};`, broken)).rejects.toThrow(
      "Cannot find module '@opentelemetry/gone'",
    );
  });
});

describe("with the SDK", () => {
  const usesStore = `
    import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
    import { DynamoDBStore } from "onceonly/dynamodb";
    const client = new DynamoDBClient({ region: "eu-west-1" });
    console.log(new DynamoDBStore({ tableName: "records", client }) instanceof DynamoDBStore);`;
  const banner = {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  };

  it("an ES module shares the SDK with its caller", async () => {
    const withSdk = await projects.create("bare", ["@aws-sdk/client-dynamodb"]);

    const { stdout } = await evaluate("module", usesStore, withSdk);

    expect(stdout).toBe("true\n");
  });

  it.each([
    ["esm", "outside", ["@aws-sdk/*"]],
    ["esm", "inside", []],
    ["cjs", "outside", ["@aws-sdk/*"]],
    ["cjs", "inside", []],
  ] as const)("a bundle (%s) holds a store, the SDK %s", async (format, place, external) => {
    const withSdk = await projects.create("bare", ["@aws-sdk/client-dynamodb"]);
    const more = {
      format,
      external: [...external],
      minify: true,
      metafile: true,
      ...(format === "esm" && { banner }),
    };
    const { metafile } = await bundle(usesStore, withSdk, more);

    const { stdout } = await runBundle(usesStore, more, withSdk);

    expect(stdout).toBe("true\n");
    const ofSdk = Object.keys(metafile!.inputs).filter((path) => path.includes("@aws-sdk/client-dynamodb/"));
    expect(ofSdk.length > 0).toBe(place === "inside");
  });
});

const WITHOUT_FRAMEWORKS = `
  import { expressIdempotency, fastifyIdempotency, honoIdempotency, nestIdempotency } from "onceonly/http";
  import { MemoryStore } from "onceonly/testing";
  const common = { operation: "create-order", store: new MemoryStore() };
  expressIdempotency({ ...common, scope: (req) => req.socket.remoteAddress });
  fastifyIdempotency({ ...common, scope: (request) => request.originalUrl });
  honoIdempotency({ ...common, scope: (c) => c.req.raw.url });
  nestIdempotency({ ...common, scope: (request: { user?: string }) => request.user });
  // @ts-expect-error
  expressIdempotency({ ...common, scope: (req) => req.user });
  // @ts-expect-error
  honoIdempotency({ ...common, scope: (c) => c.get("user") });`;

describe("the types", () => {
  it("of entries without peers need none either, and without a framework a request has the parts that are used", async () => {
    const typed = await projects.create("bare", ["@types/node"]);
    const entries = FREE.filter((entry) => entry !== "onceonly/kit" && entry !== "onceonly/lean");
    const lines = entries.map((entry, index) => `export * as e${index} from "${entry}";`);
    await writeFile(join(typed, "all.ts"), [...lines, WITHOUT_FRAMEWORKS].join("\n"));
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "node"];

    await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...options, "all.ts"], typed);
  });
});
