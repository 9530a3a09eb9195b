import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const entry = (path: string) => fileURLToPath(new URL(`./lib/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^onceonly$/, replacement: entry("index.ts") },
      { find: /^onceonly\/(cdk|client|testing)$/, replacement: entry("$1/index.ts") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/setup/engines.ts", "test/setup/prebuilt-functions.ts"],
    reporters: ["default", "./test/setup/closing-line.ts"],
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
    // All processors: much of the time goes into waiting for engines and other processes.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: {
      provider: "v8",
      include: ["lib/core/**", "lib/messaging/**"],
      reporter: [["text", { skipFull: true }]],
      thresholds: { lines: 100, branches: 100 },
    },
  },
});
