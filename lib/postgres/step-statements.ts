/** The SQL of steps, for one table. On PostgreSQL a larger result has a row of its own; Aurora DSQL has no foreign keys. No I/O. */
import { STEP_ROWS_VERSION, STEPS_VERSION } from "../contract.ts";
import type { StepChange } from "../core/store.ts";
import type { SqlDialect } from "./dialect.ts";
import { quoted, stepTableOf } from "./options.ts";
import { BEGAN, mine, NOW } from "./record-sql.ts";
import { valuesOfStep } from "./record-values.ts";
import { roomOf } from "./room.ts";
import { type Placeholders, type SqlStatement, statement } from "./statement.ts";

const CHANGE = [
  ...(["pk", "token", "name", "entry", "resultKey", "result"] as const),
  ...(["isListed", "isFirst", "seenState", "seenAttempt", "seenAt"] as const),
] as const;
type Change = Placeholders<(typeof CHANGE)[number]>;

const stored = (p: Change) => `r.steps::jsonb -> ${p.name}::text`;

/** The lease moves, so that a claim based on the older state finds another lease. A tracked step removes the expiry. */
const moved = (p: Change, version: string) => `lease_ends_at = r.lease_ends_at + 1, version = ${version},
  expires_at = CASE WHEN ${p.isListed}::boolean THEN NULL ELSE r.expires_at END`;

/** The step is unchanged since it was seen. */
const isAsSeen = (p: Change) => `${mine(p)} AND (r.steps IS NULL) = ${p.isFirst}::boolean
  AND ${stored(p)} ->> 'state' IS NOT DISTINCT FROM ${p.seenState}::text
  AND (${stored(p)} ->> 'attempt')::double precision IS NOT DISTINCT FROM ${p.seenAttempt}::double precision
  AND (${stored(p)} ->> 'at')::double precision IS NOT DISTINCT FROM ${p.seenAt}::double precision`;

const answer = (p: Change) =>
  `json_build_object('serverTimeMs', ${NOW}, 'began', ${BEGAN}, 'lostBytes', ${stored(p)} -> 'lostBytes')::text AS answer`;

/** Writing a step copies all steps of its record, but not the rows of their results. */
function inRows(table: string) {
  const [name, rows] = [quoted(table), quoted(stepTableOf(table))];
  return {
    writeStep: statement(
      "UPDATE",
      [...CHANGE, "formerKey"] as const,
      (p) => `WITH changed AS (
  UPDATE ${name} AS r SET ${moved(p, `r.version | CASE WHEN ${p.resultKey}::text IS NULL THEN ${STEPS_VERSION} ELSE ${STEP_ROWS_VERSION} END`)},
    steps = coalesce(r.steps, '{}') || jsonb_build_object(${p.name}::text, ${p.entry}::text::jsonb)
  WHERE ${isAsSeen(p)} RETURNING ${answer(p)}
), added AS (
  INSERT INTO ${rows} (pk, key, result) SELECT ${p.pk}, ${p.resultKey}, ${p.result}::text FROM changed WHERE ${p.resultKey}::text IS NOT NULL
), removed AS (
  DELETE FROM ${rows} AS s WHERE s.pk = ${p.pk} AND s.key = ${p.formerKey} AND EXISTS (SELECT FROM changed)
)
SELECT answer FROM changed`,
    ),
    // Former code kept such results in a column.
    loadStepResult: statement(
      "SELECT",
      ["pk", "key"],
      (p) => `SELECT coalesce((SELECT s.result FROM ${rows} AS s WHERE s.pk = ${p.pk} AND s.key = ${p.key}),
  r.step_results ->> ${p.key}) AS answer FROM ${name} AS r WHERE r.pk = ${p.pk}`,
    ),
  };
}

function inColumns(table: string) {
  const name = quoted(table);
  const room = roomOf("dsql");
  return {
    writeStep: statement("UPDATE", [...CHANGE, "withoutResult", "addedBytes"] as const, (p) => {
      const isWithin = (column: string, most: number) =>
        `coalesce(octet_length(r.${column}::text), 0) + ${p.addedBytes}::integer <= ${most}`;
      // A step's result goes into a column that may be full. The step is then written without it.
      const hasRoom = `CASE WHEN ${p.withoutResult}::text IS NULL THEN true
    WHEN ${p.resultKey}::text IS NULL THEN ${isWithin("steps", room.steps)}
    ELSE ${isWithin("step_results", room.stepResults)} END`;
      return `UPDATE ${name} AS r SET ${moved(p, `${STEPS_VERSION}`)},
  steps = coalesce(r.steps::jsonb, '{}')
    || jsonb_build_object(${p.name}::text, CASE WHEN ${hasRoom} THEN ${p.entry}::text ELSE ${p.withoutResult}::text END::jsonb),
  step_results = CASE WHEN ${p.resultKey}::text IS NULL OR NOT ${hasRoom} THEN r.step_results::jsonb
    ELSE coalesce(r.step_results::jsonb, '{}') || jsonb_build_object(${p.resultKey}::text, ${p.result}::text) END
WHERE ${isAsSeen(p)} RETURNING ${answer(p)}`;
    }),
    loadStepResult: statement(
      "SELECT",
      ["pk", "key"],
      (p) => `SELECT r.step_results::jsonb ->> ${p.key} AS answer FROM ${name} AS r WHERE r.pk = ${p.pk}`,
    ),
  };
}

export function stepStatements(table: string, dialect: SqlDialect | undefined) {
  const { writeStep, loadStepResult } = dialect === "dsql" ? inColumns(table) : inRows(table);
  return {
    writeStep: (change: StepChange<unknown>): SqlStatement =>
      writeStep(valuesOfStep(change, roomOf(dialect))),

    loadStepResult: (pk: string, key: string): SqlStatement => loadStepResult({ pk, key }),
  };
}
