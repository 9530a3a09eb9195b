// The entries of the package, as `exports` of its manifest names them: `index` for ".", `client/index` for "./client".
import { readFileSync } from "node:fs";

const { exports } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/** All of them. */
export const ENTRIES = Object.keys(exports)
  .filter((name) => !name.endsWith(".json"))
  .map((name) => `${name.slice(2)}/index`.replace(/^\//, ""));

/** Those with ES modules of their own. */
export const MODULE_ENTRIES = ENTRIES.filter((entry) => entry !== "cdk/index");
