// What each position of a hook does, for the tests that show it and for the table in docs/reference/middy-hooks.md.
import type { HookRow } from "./hook-row.ts";
import { INNER_ROWS } from "./inner-rows.ts";
import { OUTER_ROWS } from "./outer-rows.ts";

export const HOOK_ROWS: readonly HookRow[] = [...INNER_ROWS, ...OUTER_ROWS];
