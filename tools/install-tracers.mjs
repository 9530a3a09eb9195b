// Installs what test/tracers runs, into tools/tracers/node_modules: the pinned tracers, and a Node that is new enough for them
// if this one isn't. `npm ci` doesn't, since they are 100 MB and only one test needs them.
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installNode, npmCi } from "./pinned-node.mjs";

const folder = fileURLToPath(new URL("tracers", import.meta.url));
const { status, stderr } = npmCi(folder, "--omit=optional");
if (status !== 0) {
  console.error(stderr);
  process.exit(1);
}

const installed = join(folder, "node_modules");
const node = Number.parseInt(process.versions.node, 10) >= 24 ? process.execPath : newerNode();
if (typeof node === "string") symlinkSync(node, join(installed, ".bin/node"));
else {
  console.error(`the tracers need Node 22.15 or newer: ${node.absent}`);
  process.exitCode = 1;
}

function newerNode() {
  const folder = join(installed, ".node");
  mkdirSync(folder);
  return installNode(24, folder);
}
