// The table at the end of a campaign. Pure.
import type { ModeReport } from "./run-mode.ts";

export function isGood({ violations, control }: ModeReport): boolean {
  return violations === 0 && (control === undefined || control.found !== undefined);
}

/** A column for each mode. */
export function formatSummary(reports: readonly ModeReport[]): string {
  const rows: (readonly string[])[] = [
    ["", ...reports.map(({ mode }) => mode)],
    ["seconds", ...reports.map(({ seconds }) => `${seconds}`)],
    ["rounds", ...reports.map(({ rounds }) => `${rounds}`)],
    ["keys", ...reports.map(({ subjects }) => `${subjects}`)],
    ["calls", ...reports.map(({ calls }) => `${calls}`)],
    ["runs of a handler", ...reports.map(({ runs }) => `${runs}`)],
    ["requests", ...reports.map(({ requests }) => `${requests}`)],
    ["longest finish, ms", ...reports.map(({ longestFinishMs }) => `${longestFinishMs}`)],
    ...countRows(
      "fault",
      reports.map(({ faults }) => faults),
    ),
    ...countRows(
      "answer",
      reports.map(({ answers }) => answers),
    ),
    ...countRows(
      "decision",
      reports.map(({ decisions }) => decisions),
    ),
    ["control found after, s", ...reports.map(controlCell)],
    ["violations", ...reports.map(({ violations }) => `${violations}`)],
    ...countRows(
      "violation",
      reports.map(({ findings }) => Object.fromEntries(findings.map(({ kind, count }) => [kind, count]))),
    ),
  ];
  const [names = 0, ...widths] = [0, ...reports].map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map(([name = "", ...cells]) => {
      const aligned = cells.map((cell, column) => cell.padStart(widths[column] ?? 0));
      return [name.padEnd(names), ...aligned].join("  ").trimEnd();
    })
    .join("\n");
}

function controlCell({ control }: ModeReport): string {
  if (!control) return "-";
  return control.found === undefined ? "nothing" : `${control.seconds}`;
}

function countRows(what: string, counts: readonly Readonly<Record<string, number>>[]): string[][] {
  const names = [...new Set(counts.flatMap(Object.keys))].sort();
  return names.map((name) => [`${what}: ${name}`, ...counts.map((each) => `${each[name] ?? 0}`)]);
}
