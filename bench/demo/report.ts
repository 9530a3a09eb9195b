// The table at the end, and the verdict in words. Pure.
import type { Observation } from "./observation.ts";
import { KILL_POINTS, type KillPoint, type Plan } from "./plan.ts";

export interface Row {
  readonly name: string;
  readonly count: number;
  readonly meaning: string;
}

export function reportRows(plan: Plan, observation: Observation): Row[] {
  const { answers, rows } = observation;
  const answersWith = (wanted: (status: number) => boolean) =>
    answers.filter(({ status }) => wanted(status)).length;
  return [
    { name: "requests", count: observation.requests, meaning: "HTTP, every retry included" },
    {
      name: "executions",
      count: observation.executions,
      meaning: "handlers started, those that died included",
    },
    {
      name: "replays",
      count: answers.filter(({ replayed }) => replayed).length,
      meaning: "answered from the record",
    },
    {
      name: "409s",
      count: answersWith((status) => status === 409),
      meaning: "another request was in progress",
    },
    { name: "422s", count: answersWith((status) => status === 422), meaning: "a key came with another body" },
    {
      name: "5xx",
      count: answersWith((status) => status >= 500),
      meaning: "a process died, or the store failed",
    },
    { name: "gave up", count: observation.gaveUp, meaning: "clients that broke off and came back" },
    { name: "kills", count: observation.kills.length, meaning: `SIGKILL: ${killsByPoint(observation)}` },
    {
      name: "lost answers",
      count: observation.lostAnswers,
      meaning: "DynamoDB wrote, and the answer was cut off",
    },
    { name: "throttles", count: observation.throttles, meaning: "DynamoDB refused a write" },
    { name: "orders expected", count: plan.orders.length, meaning: "one for each key of each tenant" },
    { name: "orders found", count: rows.length, meaning: "rows in the table" },
  ];
}

const WORDS_OF: Readonly<Record<KillPoint, string>> = {
  "before-claim": "before the claim",
  "after-claim": "after it",
  "before-commit": "before the commit",
  "after-commit": "after it",
};

function killsByPoint({ kills }: Observation): string {
  return KILL_POINTS.map(
    (point) => `${kills.filter((kill) => kill === point).length} ${WORDS_OF[point]}`,
  ).join(", ");
}

export function formatTable(rows: readonly Row[]): string {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length));
  const countWidth = Math.max(...rows.map(({ count }) => String(count).length));
  return rows
    .map(
      ({ name, count, meaning }) =>
        `  ${name.padEnd(nameWidth)}  ${String(count).padStart(countWidth)}  ${meaning}`,
    )
    .join("\n");
}

const MOST_PROBLEMS_SHOWN = 20;

export function formatVerdict(plan: Plan, observation: Observation, problems: readonly string[]): string {
  if (problems.length === 0) {
    const count = plan.orders.length;
    const successes = observation.answers.filter(({ status }) => status < 300).length;
    return [
      `held: one order for each key of each tenant (${count} of ${count}),`,
      `      one answer for each of them (${successes} successful responses, those of one key identical)`,
    ].join("\n");
  }
  const shown = problems.slice(0, MOST_PROBLEMS_SHOWN).map((problem) => `  ${problem}`);
  const more = problems.length - shown.length;
  return [`broken (${problems.length}):`, ...shown, ...(more > 0 ? [`  and ${more} more`] : [])].join("\n");
}
