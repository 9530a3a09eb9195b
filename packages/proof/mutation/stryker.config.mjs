// One run mutates one folder of lib: ONCEONLY_MUTATED is "core" (the default) or "messaging".
const folder = process.env.ONCEONLY_MUTATED ?? "core";

// biome-ignore lint/style/noDefaultExport: Stryker reads the default export.
export default {
  mutate: [`lib/${folder}/**/*.ts`],
  testRunner: "vitest",
  vitest: { configFile: "packages/proof/mutation/vitest.config.mjs", related: false },
  plugins: ["@stryker-mutator/vitest-runner", "./packages/proof/mutation/ignore-texts.mjs"],
  ignorers: ["texts"],
  coverageAnalysis: "perTest",
  concurrency: 1,
  // A timeout counts as found, so a machine that is busy with other things must not cause one.
  timeoutMS: 30_000,
  timeoutFactor: 5,
  ignorePatterns: [
    "**",
    ...["lib", "test", "packages", "tools"].map((kept) => `!${kept}/**`),
    "!package.json",
    "!vitest.config.ts",
    "node_modules/**",
    "packages/*/node_modules/**",
  ],
  reporters: ["json", "progress-append-only"],
  jsonReporter: { fileName: `reports/mutation-${folder}.json` },
  incremental: true,
  incrementalFile: `reports/mutation-incremental-${folder}.json`,
};
