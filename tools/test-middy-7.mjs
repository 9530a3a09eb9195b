// Runs the tests of the middleware on a Node that Middy 7 runs on, where this one is older: in a temporary folder.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installNode } from "./pinned-node.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "onceonly-node-"));
try {
  const node = Number.parseInt(process.versions.node, 10) >= 22 ? process.execPath : installNode(24, folder);
  if (typeof node === "string") process.exitCode = runTests(node);
  else console.log(`Middy 7 was not tested: ${node.absent}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Those that run on each version of Middy, and what knows nested operations better on newer Nodes. */
function runTests(node) {
  const tests = readdirSync(join(root, "test/lambda"), { recursive: true })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `test/lambda/${file}`)
    .filter((file) => readFileSync(join(root, file), "utf8").includes('middies.ts"'));
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const files = [...tests, "test/lambda/runtime-client.test.ts", "test/core/nesting.test.ts"];
  const { status } = spawnSync(node, [vitest, "run", ...files], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
  });
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  console.log(`Middy 7: the tests of the middleware ${status === 0 ? "pass" : "fail"} on Node ${version}`);
  return status ?? 1;
}
