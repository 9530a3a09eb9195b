// Mutates lib/core, then lib/messaging, a few files at a time, so a run that is stopped continues where it was.
// `npm run mutate -- core lease` mutates only the files of one folder whose path contains that string.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

const FILES_PER_RUN = 8;
const [only, part = ""] = process.argv.slice(2);

for (const folder of only ? [only] : ["core", "messaging"]) {
  const files = readdirSync(`lib/${folder}`, { recursive: true, encoding: "utf8" })
    .map((name) => `lib/${folder}/${name}`)
    .filter((name) => name.endsWith(".ts") && name.includes(part))
    .sort();
  while (files.length > 0) mutate(folder, files.splice(0, FILES_PER_RUN));
}

function mutate(folder, files) {
  const list = files.join(",");
  const { status } = spawnSync(
    "npx",
    ["stryker", "run", "packages/proof/mutation/stryker.config.mjs", "--mutate", list],
    { stdio: "inherit", env: { ...process.env, ONCEONLY_MUTATED: folder, ONCEONLY_MUTATED_FILES: list } },
  );
  if (status !== 0) process.exit(status ?? 1);
}
