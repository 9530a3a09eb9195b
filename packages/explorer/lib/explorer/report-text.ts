/**
 * Prints a report: the result in one line, then each kind of finding once, with its trace and advice.
 * Pure.
 */
import { visible } from "onceonly/kit";
import type { Finding, FindingKind } from "./finding.ts";
import type { ExploreReportParts } from "./report-parts.ts";

export function reportText(report: ExploreReportParts): string {
  return joined([headline(report), ...notes(report), ...groupsOf(report.findings).flatMap(groupLines)]);
}

/** The first defect, and how many more there are. */
export function firstText(report: ExploreReportParts): string {
  const [first, ...others] = groupsOf(report.findings);
  const lines = [headline(report), ...notes(report), ...(first ? groupLines(first, 0) : [])];
  if (others.length > 0)
    lines.push("", `and ${countOf(others.length, "more defect")}: String(report) lists them all`);
  return joined(lines);
}

/** Names and answers in a line come from the explored code: none of them may end the line. */
const joined = (lines: readonly string[]): string => lines.map(visible).join("\n");

export function notes({
  undisturbed,
  accepted,
  held,
  undone,
  masked,
  firstOnly,
}: ExploreReportParts): string[] {
  const lines = [`undisturbed: ${undisturbed}`, ...accepted.map(acceptedLine)];
  if (held !== undefined) {
    const errors = held.lastErrors.map(({ name, at }) => `${name} at ${new Date(at).toISOString()}`);
    const last = errors.length > 0 ? `; last errors: ${errors.join(", ")}` : "";
    lines.push(
      `held until an operator decides (whenAbandoned): in ${countOf(held.runs, "run")}, for example after ${held.disturbance}${last}`,
    );
  }
  if (undone !== undefined) {
    lines.push(
      `compensated by a saga: in ${countOf(undone.runs, "run")}, for example after ${undone.disturbance}`,
    );
  }
  if (masked.length > 0)
    lines.push(`not compared, because undisturbed runs differ there: ${masked.join("; ")}`);
  if (firstOnly.length > 0) {
    lines.push(
      `not explored, because only the first run does it (the module caches it; see perEnvironment): ${someOf(firstOnly)}`,
    );
  }
  return lines;
}

/** "create-order: 11 I/O points, 97 runs, exactly once" */
export function headline({
  name,
  points,
  runs,
  findings,
  accepted,
  held,
  undone,
  leftOut,
}: ExploreReportParts): string {
  const verdict =
    findings.length > 0
      ? countOf(findings.length, "finding")
      : accepted.length > 0
        ? "exactly once, except for what was accepted"
        : held !== undefined
          ? "at most once, and exactly once unless a key was held"
          : undone !== undefined
            ? "exactly once, or compensated as a whole"
            : "exactly once";
  const cut = leftOut > 0 ? ` (${leftOut} more left out by maxRuns)` : "";
  return `${name}: ${countOf(points.length, "I/O point")}, ${countOf(runs, "run")}${cut}, ${verdict}`;
}

/** "a crash after point 7 (dynamodb PutItem orders) makes it happen twice: 2 items in orders instead of 1" */
export function findingLine({ disturbance, kind, what }: Finding): string {
  return `${disturbance} ${VERBS[kind]}: ${what}`;
}

const VERBS: Readonly<Record<FindingKind, string>> = {
  "happens-twice": "makes it happen twice",
  lost: "loses an effect",
  differs: "changes an effect",
  "answer-differs": "changes the answer",
  dangling: "leaves a reference to something that doesn't exist",
  stuck: "leaves it stuck",
  order: "breaks the order",
  misreported: "returns a response that its source can't read",
  unbounded: "causes endless requests",
  unawaited: "leaves work that isn't awaited",
  "key-reused": "reuses a key for another request",
};

function acceptedLine({ call, most, disturbance }: ExploreReportParts["accepted"][number]): string {
  return `accepted as at least once: ${call}, up to ${countOf(most, "time")} (${disturbance})`;
}

function groupLines(findings: readonly Finding[], index: number): string[] {
  const [first, ...others] = findings as readonly [Finding, ...Finding[]];
  const lines = [
    "",
    `${index + 1}. ${findingLine(first)}`,
    ...first.trace.split("\n").map((line) => `     ${line}`),
    `   what to do: ${first.advice}`,
    `   reproduce: only: ${JSON.stringify(first.id)}, seed: ${first.seed}`,
  ];
  if (others.length > 0) lines.push(`   ${othersLine(others)}`);
  return lines;
}

/** "the same after 3 more: crash@7, …" */
export function othersLine(others: readonly Finding[]): string {
  return `the same after ${others.length} more: ${someOf(others.map(({ id }) => id))}`;
}

/** Findings of one kind with the same words: one defect shows at many points. */
export function groupsOf(findings: readonly Finding[]): Finding[][] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = `${finding.kind} ${finding.advice} ${finding.what.replaceAll(/"[^"]*"|\d+/g, "#")}`;
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()];
}

const NAMES_SHOWN = 8;

function someOf(names: readonly string[]): string {
  return [...names.slice(0, NAMES_SHOWN), ...(names.length > NAMES_SHOWN ? ["…"] : [])].join(", ");
}

function countOf(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}
