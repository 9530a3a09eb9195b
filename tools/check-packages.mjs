// Checks every package as it would be published: its manifest by publint, its types in each resolution of TypeScript by attw.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { entriesOf, PACKAGES } from "./entries.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

for (const [name, { folder, isCommand }] of Object.entries(PACKAGES)) {
  check("publint", ["--strict", `./${folder}`]);
  if (isCommand) continue;
  const isEsmOnly = entriesOf(name, "cjs").length === 0;
  check("attw", ["--pack", `./${folder}`, ...(isEsmOnly ? ["--profile", "esm-only"] : [])]);
}

function check(command, args) {
  const { status } = spawnSync(join(root, "node_modules/.bin", command), args, {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}
