// Installs Middy 7 into tools/middy-7/node_modules and runs the tests of the middleware on it. Middy 7 needs Node 22, so on
// an older Node they run on a pinned one, which is removed afterwards.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installNode, npmCi } from "./pinned-node.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "onceonly-node-"));
try {
  const node = Number.parseInt(process.versions.node, 10) >= 22 ? process.execPath : installNode(24, folder);
  if (typeof node === "string") process.exitCode = runTests(node);
  else console.log(`Middy 7 was not tested: ${node.absent}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The types, the tests that run on each version of Middy, and the tests of nested operations, which newer Nodes detect better. */
function runTests(node) {
  const installed = npmCi(join(root, "tools/middy-7"));
  if (installed.status !== 0) {
    console.log(`Middy 7 was not tested: it cannot be installed (${installed.reason})`);
    return 0;
  }
  const tests = readdirSync(join(root, "test/lambda"), { recursive: true })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `test/lambda/${file}`)
    .filter((file) => readFileSync(join(root, file), "utf8").includes('middies.ts"'));
  const run = (...args) =>
    spawnSync(node, args, {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
    }).status ?? 1;
  const types = run(join(root, "node_modules/typescript/bin/tsc"), "-p", "tools/middy-7");
  const others = ["lambda/runtime-client", "core/nesting", "durable/durable-idempotency"];
  const files = [...tests, ...others.map((name) => `test/${name}.test.ts`)];
  const status = run(join(root, "node_modules/vitest/vitest.mjs"), "run", ...files) || types;
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  console.log(
    `Middy 7: the types and the tests of the middleware ${status === 0 ? "pass" : "fail"} on Node ${version}`,
  );
  return status;
}
