import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { FULL, isFull, isLong, isUnit, LONG, sharingTests, unitTests } from "./test/setup/tier.ts";
import { SOURCES } from "./tools/entries.mjs";

/** Start no engine and no process, which test/setup/no-processes.ts holds them to; their files share what they import. */
const UNIT = unitTests();
const LEFT_OUT = isFull ? [] : isLong ? FULL : [...FULL, ...LONG];
const SHARING = sharingTests("library");
const PACKAGES_SHARING = sharingTests("packages");
const ofRun = (files: string[]) => (isLong ? files.filter((file) => LONG.includes(file)) : files);
const ofLong = (pattern: string) =>
  isLong ? LONG.filter((file) => file.startsWith(pattern)) : [`${pattern}**/*.test.ts`];

/** The mutation tests resolve and transform files in the same way. */
export const resolve = {
  alias: SOURCES.map(([name, source]) => ({
    find: new RegExp(`^${name}$`),
    replacement: fileURLToPath(new URL(source, import.meta.url)),
  })),
};
/** The transformer of vitest leaves standard decorators as they are, and Node does not know them. */
const decorators = {
  name: "standard-decorators",
  enforce: "pre" as const,
  async transform(code: string, id: string) {
    if (!/^ *@once[<(]/m.test(code) || !id.endsWith(".ts")) return null;
    const { transform } = await import("esbuild");
    return transform(code, { loader: "ts", target: "node20", sourcemap: true });
  },
};
export const plugins = [decorators];
const common = {
  env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
  // A busy machine isn't a failure.
  testTimeout: 120_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 30_000 } },
};

const unit = {
  plugins,
  resolve,
  test: {
    ...common,
    name: "unit",
    include: ofRun(UNIT),
    setupFiles: ["test/setup/no-processes.ts", "test/setup/no-traces.ts"],
    isolate: false,
  },
};
/** Their files share processes. */
const sharing = (name: string, files: string[], exclude: string[]) => ({
  plugins,
  resolve,
  test: {
    ...common,
    name,
    include: ofRun(files),
    exclude: [...exclude, ...LEFT_OUT],
    setupFiles: ["test/setup/no-traces.ts"],
    isolate: false,
  },
});
/** Each file has a process of its own. */
const alone = (name: string, folders: string[], exclude: string[]) => ({
  plugins,
  resolve,
  test: { ...common, name, include: folders.flatMap(ofLong), exclude: [...exclude, ...LEFT_OUT] },
});
const library = [unit, sharing("sharing", SHARING, UNIT), alone("alone", ["test/", "examples/"], SHARING)];
const packages = [
  sharing("packages", PACKAGES_SHARING, []),
  alone("packages alone", ["packages/"], PACKAGES_SHARING),
];

export default defineConfig({
  test: {
    projects: isUnit ? [unit] : [...library, ...packages],
    globalSetup: isUnit
      ? []
      : [
          // The first: the others' temporary files go there.
          "test/setup/run-folder.ts",
          "test/setup/brokers.ts",
          "test/setup/engines.ts",
          "test/setup/postgres.ts",
          "test/setup/prebuilt-functions.ts",
          "test/setup/valkey.ts",
        ],
    reporters: ["default", "./test/setup/closing-line.ts"],
    maxWorkers: "100%",
    coverage: {
      provider: "v8",
      include: ["lib/core/**/*.ts", "lib/messaging/**/*.ts"],
      reporter: [["text", { skipFull: true }], "json-summary"],
      reportOnFailure: true,
      thresholds: { lines: 100, branches: 100 },
    },
  },
});
