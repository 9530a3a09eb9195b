// Whether one key of one tenant has one order, and its clients one answer. Pure.
import { countProblems, dueFor } from "../../../../test/kit/shop/judge.ts";
import type { Observation } from "./observation.ts";
import type { Behaviour } from "./order-plan.ts";
import type { PlannedOrder } from "./plan.ts";
import type { Answer, OrderRow } from "./seen.ts";

export interface SeenOfOrder {
  readonly rows: readonly OrderRow[];
  readonly answers: readonly Answer[];
  readonly endings: Observation["endings"];
}

/** What a client may see: the order or the refusal, in progress, a process that died, a store that failed. */
const STATUSES_OF = { order: [201, 409, 500, 503], "other-body": [422, 500, 503] } as const;
const FINAL_STATUS_OF = { order: 201, "other-body": 422 } as const;
const WORDS_OF = { order: "a request", "other-body": "a request with another body" } as const;

export function orderProblems(order: PlannedOrder, seen: SeenOfOrder): string[] {
  return [
    ...rowProblems(order, seen),
    ...answerProblems(seen),
    ...statusProblems(seen),
    ...endingProblems(order, seen),
  ];
}

function rowProblems({ body }: PlannedOrder, { rows }: SeenOfOrder): string[] {
  const [row] = rows;
  if (row === undefined || rows.length > 1) return countProblems("order", dueFor(), rows.length);
  if (row.sku === body.sku && row.quantity === body.quantity && row.card === body.card) return [];
  return [`expected an order of ${contentOf(body)}, found one of ${contentOf(row)}`];
}

function contentOf({ quantity, sku, card }: PlannedOrder["body"]): string {
  return `${quantity} ${sku} with ${card}`;
}

function answerProblems({ answers, rows }: SeenOfOrder): string[] {
  const successes = answers.filter(({ status }) => status >= 200 && status < 300);
  const different = new Set(successes.map(({ status, location, body }) => `${status} ${location} ${body}`));
  const problems: string[] = [];
  if (different.size > 1) problems.push(`expected 1 answer, got ${different.size} different ones`);
  if (successes.some(({ body }) => !rows.some(({ id }) => id === orderIdOf(body)))) {
    problems.push("was answered with an order that is not in the table");
  }
  return problems;
}

function statusProblems({ answers }: SeenOfOrder): string[] {
  return answers
    .filter(({ asked, status }) => !(STATUSES_OF[asked] as readonly number[]).includes(status))
    .map(({ asked, status }) => `${WORDS_OF[asked]} was answered with ${status}`);
}

function endingProblems({ behaviour }: PlannedOrder, { endings }: SeenOfOrder): string[] {
  const planned = endingsPlanned(behaviour);
  if (endings.length !== planned) {
    return [`planned to ask ${planned} times to the end, asked ${endings.length}`];
  }
  return endings
    .filter(({ asked, status }) => status !== FINAL_STATUS_OF[asked])
    .map(({ asked, status, failure }) => `${WORDS_OF[asked]} ended with ${failure ?? `status ${status}`}`);
}

function endingsPlanned(behaviour: Behaviour): number {
  if ("duplicates" in behaviour) return 1 + behaviour.duplicates;
  return behaviour.kind === "reused" ? 3 : 1;
}

function orderIdOf(body: string): unknown {
  try {
    return JSON.parse(body).id;
  } catch {
    return undefined;
  }
}
