// The table of docs/reference/middy-hooks.md, made from the rows that test/lambda/middy/hooks.test.ts proves.
import type { Row } from "../lambda/middy/cases/hook-row.ts";
import { HOOK_ROWS } from "../lambda/middy/cases/hook-rows.ts";
import { TIMEOUT_ROWS } from "../lambda/middy/cases/timeout-rows.ts";

const BEGIN = "<!-- made from test/lambda/middy/cases: npx vitest run test/docs -u -->";
const END = "<!-- end -->";
const HEAD = [
  "| where | what it does | recorded | this caller gets | a retry gets, or does |",
  "|---|---|---|---|---|",
];

export function withHookTable(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/reference/middy-hooks.md has no ${BEGIN} … ${END}`);
  const table = [...HEAD, ...[...HOOK_ROWS, ...TIMEOUT_ROWS].map(lineOf)].join("\n");
  return `${page.slice(0, begin)}${BEGIN}\n\n${table}\n\n${page.slice(end)}`;
}

function lineOf({ where, what, recorded, caller, retry }: Row): string {
  return `| ${[where, what, recorded, caller, retry].join(" | ")} |`;
}
