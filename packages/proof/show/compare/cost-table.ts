// A path's cost with both packages, in words: which needs fewer. Pure.
import { markdownTable } from "../../measure/report/markdown.ts";
import type { CostOfPath } from "./costs.ts";

const UNITS = ["requests", "writeUnits", "readUnits"] as const;

export function costTable(costs: readonly CostOfPath[]): string {
  const rows = costs.map(({ path, onceonly, powertools }) => [
    path,
    ...UNITS.map((unit) => fewer(onceonly[unit], powertools[unit])),
  ]);
  return markdownTable([["path", "requests", "write units", "read units"], ...rows]);
}

function fewer(own: number, peer: number): string {
  if (own === peer) return "equal";
  return own < peer ? "fewer with onceonly" : "fewer with Powertools";
}
