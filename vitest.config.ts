import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { FULL, isFull, isLong, isUnit, LONG, sharingTests, unitTests } from "./test/setup/tier.ts";

const entry = (path: string) => fileURLToPath(new URL(`./lib/${path}`, import.meta.url));

/** Start no engine and no process, which test/setup/no-processes.ts holds them to; their files share what they import. */
const UNIT = unitTests();
const LEFT_OUT = isFull ? [] : isLong ? FULL : [...FULL, ...LONG];
const SHARING = sharingTests();
const ofRun = (files: string[]) => (isLong ? files.filter((file) => LONG.includes(file)) : files);

const resolve = {
  alias: [
    { find: /^onceonly$/, replacement: entry("index.ts") },
    {
      find: /^onceonly\/(cdk|client|consumers|http|lean|otel|postgres|testing|valkey)$/,
      replacement: entry("$1/index.ts"),
    },
  ],
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
const plugins = [decorators];
const common = {
  env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
  testTimeout: 60_000,
  hookTimeout: 60_000,
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
const sharing = {
  plugins,
  resolve,
  test: {
    ...common,
    name: "sharing",
    include: ofRun(SHARING),
    exclude: [...UNIT, ...LEFT_OUT],
    setupFiles: ["test/setup/no-traces.ts"],
    isolate: false,
  },
};
const alone = {
  plugins,
  resolve,
  test: {
    ...common,
    name: "alone",
    include: isLong ? LONG : ["test/**/*.test.ts"],
    exclude: [...SHARING, ...UNIT, ...LEFT_OUT],
  },
};

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    projects: isUnit ? [unit] : isLong ? [sharing, alone] : [unit, sharing, alone],
    globalSetup: isUnit
      ? []
      : [
          "test/setup/brokers.ts",
          "test/setup/engines.ts",
          "test/setup/postgres.ts",
          "test/setup/prebuilt-functions.ts",
          "test/setup/run-folder.ts",
          "test/setup/valkey.ts",
        ],
    reporters: ["default", "./test/setup/closing-line.ts"],
    // All processors: much of the time goes into waiting for engines and other processes.
    maxWorkers: "100%",
    coverage: {
      provider: "v8",
      include: ["lib/core/**/*.ts", "lib/messaging/**/*.ts"],
      reporter: [["text", { skipFull: true }]],
      reportOnFailure: true,
      thresholds: { lines: 100, branches: 100 },
    },
  },
});
