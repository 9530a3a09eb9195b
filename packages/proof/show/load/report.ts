// What a load run prints at the end: what happened, for information, and each threshold. Pure.
import { groupBy } from "../demo/group-by.ts";
import { nameOf } from "../demo/seen.ts";
import type { Observed } from "./observed.ts";
import { isBroken, type Threshold } from "./threshold.ts";

const MOST_LINES_SHOWN = 5;

export function formatInformation({
  sent,
  answers,
  faults,
}: Pick<Observed, "sent" | "answers" | "faults">): string {
  const { seconds, latencyMs, answered } = sent;
  const counts = [...groupBy(answers, ({ status }) => status)]
    .sort(([one], [other]) => one - other)
    .map(([status, { length }]) => `${length} × ${status}`);
  const replays = answers.filter(({ replayed }) => replayed).length;
  const otherBodies = answers.filter(({ asked }) => asked === "other-body").length;
  const mostAsked = Math.max(0, ...[...groupBy(answers, nameOf).values()].map(({ length }) => length));
  const { p50, p90, p99 } = latencyMs;
  return [
    "for information",
    `  answers     ${counts.join(", ") || "none"}`,
    `  of these    ${replays} replays, ${otherBodies} to another body under a used key`,
    `  hot key     ${mostAsked} answers`,
    ...(faults
      ? [`  faults      ${faults.lostAnswers} answers lost, ${faults.throttles} writes throttled`]
      : []),
    `  throughput  ${Math.round(answered / seconds)} requests per second, for ${seconds.toFixed(1)} s`,
    `  latency     ${p50} ms (median), ${p90} ms (90 %), ${p99} ms (99 %)`,
  ].join("\n");
}

export function formatThresholds(thresholds: readonly Threshold[]): string {
  const width = Math.max(...thresholds.map(({ name }) => name.length));
  const column = (value: number | string) => String(value).padStart(10);
  const lines = thresholds.flatMap((threshold) => {
    const { name, expected, found, off } = threshold;
    const mark = found === undefined ? "–" : isBroken(threshold) ? "✗" : "✓";
    return [
      `${mark} ${name.padEnd(width)}${column(expected)}${column(found ?? "not seen")}`,
      ...formatOff(off).map((line) => `    ${line}`),
    ];
  });
  const broken = thresholds.filter(isBroken).map(({ name }) => name);
  const seen = thresholds.filter(({ found }) => found !== undefined).length;
  const verdict =
    broken.length > 0
      ? `broken (${broken.length} of ${seen}): ${broken.join(", ")}`
      : `held: all ${seen} thresholds${seen < thresholds.length ? ` that could be seen, of ${thresholds.length}` : ""}`;
  return [`${" ".repeat(width + 2)}${column("expected")}${column("found")}`, ...lines, "", verdict].join(
    "\n",
  );
}

/** Equal lines once, with their number. */
function formatOff(off: readonly string[]): string[] {
  const all = [...groupBy(off, (line) => line)].map(([line, { length }]) =>
    length > 1 ? `${line} (${length} times)` : line,
  );
  const more = all.length - MOST_LINES_SHOWN;
  return [...all.slice(0, MOST_LINES_SHOWN), ...(more > 0 ? [`and ${more} more`] : [])];
}
