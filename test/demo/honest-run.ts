// What a run in which everything holds would have seen, for plans of any size.
import type { Answer, Ending, Observation, OrderRow } from "../../bench/demo/observation.ts";
import type { Plan, PlannedOrder } from "../../bench/demo/plan.ts";

export function honestRun(plan: Plan): Observation {
  const countOf = (kind: string) => plan.orders.filter(({ behaviour }) => behaviour.kind === kind).length;
  const answers = plan.orders.flatMap(answersTo);
  return {
    requests: answers.length + countOf("abandoned"),
    answers,
    endings: answers
      .filter(({ status }) => status === 201 || status === 422)
      .map(({ tenant, key, asked, status }): Ending => ({ tenant, key, asked, status })),
    gaveUp: countOf("abandoned"),
    kills: plan.orders.flatMap(({ behaviour }) => (behaviour.kind === "killed" ? [behaviour.killAt] : [])),
    lostAnswers: 3,
    throttles: 1,
    executions: plan.orders.length + countOf("killed"),
    rows: plan.orders.map(rowOf),
  };
}

export function rowOf({ tenant, key, body }: PlannedOrder): OrderRow {
  return { tenant, id: `id-of-${tenant}-${key}`, ...body, idempotencyKey: key };
}

function answersTo(order: PlannedOrder): Answer[] {
  const { tenant, key, behaviour } = order;
  const { id, sku, quantity } = rowOf(order);
  const first: Answer = {
    tenant,
    key,
    asked: "order",
    status: 201,
    replayed: false,
    location: `/orders/${id}`,
    body: JSON.stringify({ id, sku, quantity }),
  };
  const replay = { ...first, replayed: true };
  const failure = { ...first, location: null, body: "" };
  switch (behaviour.kind) {
    case "unique":
      return [first];
    case "sequential":
    case "concurrent":
      return [
        first,
        { ...failure, status: 409 },
        ...Array.from({ length: behaviour.duplicates }, () => replay),
      ];
    case "abandoned":
      return [replay];
    case "reused":
      return [first, { ...failure, asked: "other-body", status: 422 }, replay];
    case "killed":
      return [
        { ...failure, status: 500 },
        { ...failure, status: 409 },
        first,
        ...Array.from({ length: behaviour.duplicates }, () => replay),
      ];
  }
}
