// Ends a command of this repository on a Node that is too old for it, before the command fails with a missing export.
import { readFileSync } from "node:fs";

const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const oldest = engines.node.replace(">=", "");
const [oldestMajor, oldestMinor] = oldest.split(".").map(Number);
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  console.error(
    `onceonly needs Node.js ${oldest} or later, and this is ${process.version}: install Node.js 24 (docs/reference/support.md)`,
  );
  process.exit(1);
}
