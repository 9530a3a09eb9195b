// The counted paths as Markdown tables: their requests and units, and their cost. Pure.
import type { Tally } from "../metering/meter.ts";
import { dollars } from "./format.ts";
import { markdownTable } from "./markdown.ts";
import { costPerMillion } from "./prices.ts";

export interface CountedPath {
  readonly name: string;
  readonly onceonly: Tally | undefined;
  readonly powertools: Tally | undefined;
  readonly powertoolsRemark: string | undefined;
}

const HEADER = [
  "path",
  "onceonly: requests",
  "write units",
  "read units",
  "Powertools: requests",
  "write units",
  "read units",
];

export function capacityTable(paths: readonly CountedPath[]): string {
  const rows = paths.map(({ name, onceonly, powertools, powertoolsRemark }) => [
    name,
    ...tallyCells(onceonly),
    ...tallyCells(powertools, powertoolsRemark),
  ]);
  return markdownTable([HEADER, ...rows]);
}

export function costTable(paths: readonly CountedPath[]): string {
  const cell = (tally: Tally | undefined) => (tally === undefined ? "–" : dollars(costPerMillion(tally)));
  const rows = paths.map(({ name, onceonly, powertools, powertoolsRemark }) => [
    name,
    cell(onceonly),
    powertoolsRemark === undefined ? cell(powertools) : `${cell(powertools)} (${powertoolsRemark})`,
  ]);
  return markdownTable([["path", "onceonly", "Powertools"], ...rows]);
}

function tallyCells(tally: Tally | undefined, remark?: string): string[] {
  if (tally === undefined) return ["–", "–", "–"];
  const requests = remark === undefined ? String(tally.requests) : `${tally.requests} (${remark})`;
  return [requests, String(tally.writeUnits), String(tally.readUnits)];
}
