// Compiles TypeScript with decorators as the compilers do that people use, for both settings of `experimentalDecorators`.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { transformAsync } from "@babel/core";
import { transform as swc } from "@swc/core";
import { transform as esbuild } from "esbuild";
import { transformWithOxc } from "vite";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";

export type Form = "standard" | "legacy";
export const FORMS: readonly Form[] = ["standard", "legacy"];
export const FIXTURES = join(root, "test/fixtures/decorators");

const babel = (code: string, version: "2023-11" | "legacy") =>
  transformAsync(code, {
    filename: "class.ts",
    babelrc: false,
    configFile: false,
    presets: [["@babel/preset-typescript", { onlyRemoveTypeImports: true }]],
    plugins: [["@babel/plugin-proposal-decorators", { version }]],
  });

/** Each turns one module into JavaScript. oxc, which vitest 4 uses, compiles the legacy form only. */
export const TRANSFORMERS: Readonly<Record<string, (code: string, form: Form) => Promise<string>>> = {
  swc: async (code, form) =>
    (
      await swc(code, {
        configFile: false,
        swcrc: false,
        jsc: {
          parser: { syntax: "typescript", decorators: true },
          target: "es2022",
          transform:
            form === "legacy"
              ? { legacyDecorator: true, decoratorMetadata: true }
              : { decoratorVersion: "2022-03" },
        },
      })
    ).code,
  babel: async (code, form) => `${(await babel(code, form === "legacy" ? "legacy" : "2023-11"))?.code}`,
  esbuild: async (code, form) => {
    const tsconfigRaw = { compilerOptions: { experimentalDecorators: form === "legacy" } };
    return (await esbuild(code, { loader: "ts", target: "node20", tsconfigRaw })).code;
  },
  oxc: async (code, form) => {
    const options = { decorator: { legacy: form === "legacy" }, target: "node20" };
    const compiled = (await transformWithOxc(code, "class.ts", options)).code;
    // Vite bundles these helpers into what it serves. They are TypeScript's.
    return compiled.replace(
      /import (\w+) from "@oxc-project\/runtime\/helpers\/(decorate(Param)?)";/g,
      (_, name, helper) =>
        `import { __${helper === "decorate" ? helper : "param"} as ${name} } from "tslib";`,
    );
  },
};

/** The command line of each TypeScript: it checks the types too. */
export const TSC = {
  "tsc 7": "node_modules/typescript/bin/tsc",
  "tsc 6": "node_modules/@typescript/typescript6/bin/tsc6",
} as const;

export interface Workshop {
  /** Imports compiled text as a module. */
  load<T>(code: string): Promise<T>;
  /** @throws Error with what the compiler says */
  tsc<T>(compiler: keyof typeof TSC, form: Form, fixture: string): Promise<T>;
  tsconfig(form: Form, fixtures: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

export async function workshop(): Promise<Workshop> {
  // Within the project, so that what is emitted finds its packages.
  await mkdir(join(root, "node_modules/.cache"), { recursive: true });
  const folder = await mkdtemp(join(root, "node_modules/.cache/decorators-"));
  let count = 0;
  const tsconfig = async (form: Form, fixtures: readonly string[]) => {
    const path = join(folder, `tsconfig-${++count}.json`);
    const compilerOptions = {
      ...(form === "legacy" && { experimentalDecorators: true, emitDecoratorMetadata: true }),
      noEmit: false,
      incremental: false,
      tsBuildInfoFile: null,
      rootDir: root,
      outDir: join(folder, `out-${count}`),
      // The whole entry would make each compiler read the SDK's types.
      paths: {
        onceonly: [join(FIXTURES, "entry.ts")],
        "onceonly/testing": [join(root, "lib/testing/memory-tables.ts")],
      },
    };
    const files = fixtures.map((name) => join(FIXTURES, name));
    await writeFile(
      path,
      JSON.stringify({
        extends: join(root, "tsconfig.json"),
        compilerOptions,
        files,
        include: [],
        exclude: [],
      }),
    );
    return path;
  };
  const load = async <T>(code: string): Promise<T> => {
    const path = join(folder, `module-${++count}.mjs`);
    await writeFile(path, code);
    return import(/* @vite-ignore */ pathToFileURL(path).href);
  };
  // One run for all fixtures: a compiler reads much of the library.
  const emits = new Map<string, Promise<string>>();
  const emit = async (compiler: keyof typeof TSC, form: Form) => {
    const fixtures = form === "legacy" ? ["payments.ts", "routes.ts"] : ["payments.ts"];
    const config = await tsconfig(form, fixtures);
    const out = join(folder, `out-${count}`);
    await run(process.execPath, [join(root, TSC[compiler]), "-p", config], folder);
    return out;
  };
  return {
    tsconfig,
    load,
    async tsc(compiler, form, fixture) {
      const name = `${compiler}, ${form}`;
      const emitted = emits.get(name) ?? emit(compiler, form);
      emits.set(name, emitted);
      const file = join(await emitted, "test/fixtures/decorators", `${basename(fixture, ".ts")}.js`);
      return load(await readFile(file, "utf8"));
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
