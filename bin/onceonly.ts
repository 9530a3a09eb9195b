#!/usr/bin/env node
// `npx onceonly`. The commands live in a package of their own, so that functions don't install them.
import("onceonly-cli").catch((error: NodeJS.ErrnoException) => {
  if (error.code !== "ERR_MODULE_NOT_FOUND" || !error.message.includes("'onceonly-cli'")) throw error;
  console.error("the commands are in a package of their own: npm install --save-dev onceonly-cli");
  process.exitCode = 1;
});
