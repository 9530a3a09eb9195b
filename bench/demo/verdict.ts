// Whether the promise held: compares what was planned with what was seen. Pure; knows nothing of how it ran.
import { type Answer, nameOf, type Observation, type OrderRow } from "./observation.ts";
import type { Behaviour, Plan, PlannedOrder } from "./plan.ts";

/** What a client may see: the order or the refusal, in progress, a process that died, a store that failed. */
const STATUSES_OF = { order: [201, 409, 500, 503], "other-body": [422, 500, 503] } as const;
const FINAL_STATUS_OF = { order: 201, "other-body": 422 } as const;

interface SeenOfOne {
  readonly rows: readonly OrderRow[];
  readonly answers: readonly Answer[];
  readonly endings: Observation["endings"];
}

/** @returns a line for everything that is off, with tenant and key; none if the promise held */
export function findProblems(plan: Plan, observation: Observation): string[] {
  const rows = groupByName(observation.rows.map((row) => ({ ...row, key: row.idempotencyKey })));
  const answers = groupByName(observation.answers);
  const endings = groupByName(observation.endings);
  const problems = plan.orders.flatMap((order) => {
    const name = nameOf(order);
    const seen = {
      rows: rows.get(name) ?? [],
      answers: answers.get(name) ?? [],
      endings: endings.get(name) ?? [],
    };
    const found = [
      ...rowProblems(order, seen),
      ...answerProblems(seen),
      ...statusProblems(seen),
      ...endingProblems(order, seen),
    ];
    return [...new Set(found)].map((what) => `${name}: ${what}`);
  });
  return [...problems, ...unplannedRows(plan, rows), ...undoneProblems(plan, observation)];
}

function rowProblems({ body }: PlannedOrder, { rows }: SeenOfOne): string[] {
  if (rows.length !== 1) return [`expected 1 order, found ${rows.length}`];
  const row = rows[0]!;
  if (row.sku === body.sku && row.quantity === body.quantity) return [];
  return [`expected an order of ${body.quantity} ${body.sku}, found one of ${row.quantity} ${row.sku}`];
}

function answerProblems({ answers, rows }: SeenOfOne): string[] {
  const successes = answers.filter(({ status }) => status >= 200 && status < 300);
  const different = new Set(successes.map(({ status, location, body }) => `${status} ${location} ${body}`));
  const problems: string[] = [];
  if (different.size > 1) problems.push(`expected 1 answer, got ${different.size} different ones`);
  if (successes.some(({ body }) => !rows.some(({ id }) => id === orderIdOf(body)))) {
    problems.push("was answered with an order that is not in the table");
  }
  return problems;
}

function statusProblems({ answers }: SeenOfOne): string[] {
  return answers
    .filter(({ asked, status }) => !(STATUSES_OF[asked] as readonly number[]).includes(status))
    .map(({ asked, status }) => `${WORDS_OF[asked]} was answered with ${status}`);
}

function endingProblems({ behaviour }: PlannedOrder, { endings }: SeenOfOne): string[] {
  const planned = endingsPlanned(behaviour);
  if (endings.length !== planned)
    return [`planned to ask ${planned} times to the end, asked ${endings.length}`];
  return endings
    .filter(({ asked, status }) => status !== FINAL_STATUS_OF[asked])
    .map(({ asked, status, failure }) => `${WORDS_OF[asked]} ended with ${failure ?? `status ${status}`}`);
}

function endingsPlanned(behaviour: Behaviour): number {
  if ("duplicates" in behaviour) return 1 + behaviour.duplicates;
  return behaviour.kind === "reused" ? 3 : 1;
}

const WORDS_OF = { order: "a request", "other-body": "a request with another body" } as const;

function unplannedRows(plan: Plan, rows: ReadonlyMap<string, readonly unknown[]>): string[] {
  const planned = new Set(plan.orders.map(nameOf));
  return [...rows]
    .filter(([name]) => !planned.has(name))
    .map(([name, { length }]) => `${name}: expected no order, found ${length}`);
}

/** A run that did not do to the service what its plan says has shown nothing. */
function undoneProblems(plan: Plan, { kills, gaveUp }: Observation): string[] {
  const plannedOf = (kind: string) => plan.orders.filter(({ behaviour }) => behaviour.kind === kind).length;
  const problems: string[] = [];
  if (kills.length !== plannedOf("killed")) {
    problems.push(`planned ${plannedOf("killed")} kills, made ${kills.length}`);
  }
  if (gaveUp !== plannedOf("abandoned")) {
    problems.push(`planned that ${plannedOf("abandoned")} clients give up, ${gaveUp} did`);
  }
  return problems;
}

function groupByName<T extends { readonly tenant: string; readonly key: string }>(
  values: readonly T[],
): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const name = nameOf(value);
    groups.set(name, [...(groups.get(name) ?? []), value]);
  }
  return groups;
}

function orderIdOf(body: string): unknown {
  try {
    return JSON.parse(body).id;
  } catch {
    return undefined;
  }
}
