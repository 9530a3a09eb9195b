/** The life of one record as a tree: its request, attempts, steps, the saga, verdicts and messages. */
import { decodeResult, STOPPED, TURNED_BACK } from "onceonly/kit";
import {
  actOf,
  evidenceLines,
  keptLines,
  leaseLines,
  outboxBranches,
  type RecordReport,
  stepLine,
  timeOf,
} from "./record-lines.ts";
import type { TraceBranch } from "./tree.ts";

/** The status of a stored HTTP response, and nothing else of it; `undefined` for any other result. */
export function statusOf(resultText: string | undefined): number | undefined {
  try {
    const { statusCode } = Object(decodeResult(resultText)) as { statusCode?: unknown };
    return Number.isInteger(statusCode) ? (statusCode as number) : undefined;
  } catch {
    return undefined;
  }
}

/** @param status what callers were answered over HTTP, where that is known */
export function recordBranches(report: RecordReport, status: number | undefined, now: number): TraceBranch[] {
  const { steps, messages, evidence, completedAt, createdAt } = report;
  const isOver = /^(completed|failed)$/.test(report.state) && messages.length === 0;
  return [
    {
      line: `request: first received ${timeOf(createdAt, now)}${status === undefined ? "" : `, HTTP response ${status}`}`,
    },
    ...attemptBranches(report, now),
    ...sagaBranches(steps, now),
    ...(completedAt === undefined ? [] : [{ line: `${report.state} ${timeOf(completedAt, now)}` }]),
    ...(evidence ? verdictBranches(evidence, now) : []),
    {
      line: isOver
        ? "outbox: nothing is waiting. Its messages were sent or dropped, or it had none"
        : "outbox",
      below: outboxBranches(report, now),
    },
    ...keptLines(report, now).map((line) => ({ line })),
  ].filter(({ line, below }) => line !== "outbox" || below!.length > 0);
}

function verdictBranches(evidence: NonNullable<RecordReport["evidence"]>, now: number): TraceBranch[] {
  const [line = "", ...below] = evidenceLines(evidence, now);
  return [{ line, below: below.map((each) => ({ line: each })) }];
}

/** The most attempts that are listed one by one. */
const MAX_ATTEMPTS = 20;

function attemptBranches(report: RecordReport, now: number): TraceBranch[] {
  const { attempt: last, evidence } = report;
  const isErasure = evidence !== undefined && actOf(evidence) === "erased" && evidence.attempt === last - 1;
  const first = Math.max(1, last - MAX_ATTEMPTS + 1);
  const former = Array.from({ length: last - first }, (_, index) => first + index).map((attempt) => {
    return {
      line: `attempt ${attempt}: over. Any further writes are refused${aboutAttempt(attempt, evidence)}`,
    };
  });
  return [
    ...(first > 1 ? [{ line: `attempts 1 to ${first - 1}: over` }] : []),
    ...former,
    {
      line: `attempt ${last}: ${isErasure ? "the erasure" : report.state}`,
      below: leaseLines(report, now).map((line) => ({ line })),
    },
  ];
}

function aboutAttempt(attempt: number, evidence: RecordReport["evidence"]): string {
  if (evidence?.attempt !== attempt) return "";
  const act = actOf(evidence);
  if (act === "erased") return "; its result was erased";
  return act === "released" ? "; released" : `; settled as ${evidence.verdict}`;
}

/** Steps of a saga stand below it: their names begin with its own. */
function sagaBranches(steps: RecordReport["steps"], now: number): TraceBranch[] {
  const sagas = new Map<string, RecordReport["steps"][number][]>();
  const branches: TraceBranch[] = [];
  for (const step of steps) {
    const slash = step.name.indexOf("/");
    const saga = slash < 1 ? undefined : step.name.slice(0, slash);
    if (saga === undefined) branches.push({ line: stepLine(step, now) });
    else sagas.set(saga, [...(sagas.get(saga) ?? []), { ...step, name: step.name.slice(slash + 1) }]);
  }
  for (const [saga, own] of sagas) {
    const isNamed = (name: string) => own.some((step) => step.name === name);
    const end = isNamed(STOPPED) ? ", stopped" : isNamed(TURNED_BACK) ? ", compensated" : "";
    const below = own
      .filter(({ name }) => name !== STOPPED && name !== TURNED_BACK)
      .map((step) => ({ line: stepLine(step, now) }));
    branches.push({ line: `saga ${saga}${end}`, below });
  }
  return branches;
}
