// The tables of docs/reference/support.md.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./project.ts";

const page = readFileSync(join(root, "docs/reference/support.md"), "utf8");

/** The cells of each table row, a `|` that is escaped included. */
export const SUPPORT_ROWS = page
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("|-"))
  .map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll("\\|", "|")),
  );

export interface NodeRow {
  readonly version: string;
  readonly runtime: string;
  readonly support: string;
  readonly tested: string;
}

export const NODE_ROWS: readonly NodeRow[] = SUPPORT_ROWS.filter(([, runtime]) =>
  runtime?.startsWith("`nodejs"),
).map(([version = "", runtime = "", support = "", tested = ""]) => ({
  version,
  runtime: runtime.replaceAll("`", ""),
  support,
  tested,
}));

/** An exact version of each Node that is supported. */
export const TESTED_NODES: readonly string[] = NODE_ROWS.map(({ tested }) => tested);
