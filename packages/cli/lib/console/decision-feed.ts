/** The decisions of handlers as they happen, read from the lines that functions print: those of `emfMetrics`, and of other observers that print JSON. */
import { METRICS } from "onceonly/kit";
import type { DecisionLine, DecisionsLook } from "./look.ts";

export interface DecisionFeed {
  /** Takes each line that a run logs, `[Function] …` for those of a function. */
  take(line: string, at: number): void;
  look(): DecisionsLook;
}

const MAX_KEPT = 200;

export function decisionFeed(): DecisionFeed {
  const counts: Record<string, number> = {};
  const latest: DecisionLine[] = [];
  let number = 0;
  return {
    take(line, at) {
      const decision = decisionOf(line);
      if (!decision) return;
      counts[decision.decision] = (counts[decision.decision] ?? 0) + 1;
      latest.unshift({ number: ++number, at, ...decision });
      if (latest.length > MAX_KEPT) latest.pop();
    },
    look: () => ({ counts: { ...counts }, latest: latest.slice() }),
  };
}

/** Fields by name and type, since a function may print anything. */
function decisionOf(line: string): Omit<DecisionLine, "number" | "at"> | undefined {
  const [, json] = /^\[[^\]]+\] (\{.*"decision".*\})$/.exec(line) ?? [];
  if (json === undefined) return undefined;
  let printed: Readonly<Record<string, unknown>>;
  try {
    printed = Object(JSON.parse(json));
  } catch {
    return undefined;
  }
  const { decision, operation, keyHash, attempt, durationMs, errorName } = printed;
  if (typeof decision !== "string" || !Object.hasOwn(METRICS.decisions, decision)) return undefined;
  return {
    decision,
    operation: text(operation, /^[^\p{Cc}]{1,200}$/u) ?? "",
    keyHash: text(keyHash, /^[\w-]{43}$/),
    attempt: count(attempt),
    durationMs: count(durationMs),
    errorName: text(errorName, /^[\w$.]{1,64}$/),
  };
}

const text = (value: unknown, form: RegExp) =>
  typeof value === "string" && form.test(value) ? value : undefined;

const count = (value: unknown) =>
  typeof value === "number" && Number.isFinite(value) ? Math.round(value) : undefined;
