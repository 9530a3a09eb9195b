#!/usr/bin/env node
// `npx onceonly`. The commands live in a separate package, so functions don't install them.

/** The same as `engines` in package.json. */
const OLDEST_NODE = [20, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  console.error(`onceonly needs Node.js ${OLDEST_NODE.join(".")} or later, and this is ${process.version}`);
  process.exitCode = 1;
} else {
  import("onceonly-cli").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND" || !error.message.includes("'onceonly-cli'")) throw error;
    console.error("the commands are in a separate package: npm install --save-dev onceonly-cli");
    process.exitCode = 1;
  });
}
