// Finds in the sent, delivered and charged items the incidents that could not be recorded when they happened. Pure.
import type { Happened, Incident } from "./incidents.ts";
import type { Observation } from "./observation.ts";
import type { OrderRow } from "./seen.ts";
import type { Tenant } from "./tenants.ts";

export type Traces = Pick<Observation, "rows" | "ledger" | "sends" | "deliveries">;

/** Attempts of which the sandbox's cards let none succeed, and the one that does. */
const ATTEMPTS_AFTER_FAILURES = 3;
const ATTEMPTS_AFTER_LOST_ANSWER = 2;

export function incidentsSeen({ rows, ledger, sends, deliveries }: Traces): Happened[] {
  const sentIds = new Set(sends.map(({ messageId }) => messageId));
  const redriven = new Set(
    deliveries.filter(({ messageId }) => !sentIds.has(messageId)).map(({ orderId }) => orderId),
  );
  const sentTwice = idsThatRepeat(sends);
  const attempts = new Map<string, number>();
  for (const { orderId, attempts: times } of ledger) {
    attempts.set(orderId, (attempts.get(orderId) ?? 0) + times);
  }
  return rows.flatMap((row) => {
    const incidents: Incident[] = [];
    const attempted = attempts.get(row.id) ?? 0;
    if (redriven.has(row.id)) incidents.push("redriven from the dead-letter queue");
    if (sentTwice.has(row.id)) incidents.push("sent again when the queue had forgotten it");
    if (row.card === "card_fails_first" && attempted >= ATTEMPTS_AFTER_FAILURES) {
      incidents.push("gateway failed");
    }
    if (row.card === "card_answer_lost" && attempted >= ATTEMPTS_AFTER_LOST_ANSWER) {
      incidents.push("gateway charged and did not answer");
    }
    return incidents.map((incident) => happenedTo(row, incident));
  });
}

/** Orders with two messages under one deduplication id: the queue did not know it any more. */
function idsThatRepeat(sends: Traces["sends"]): Set<string> {
  const messageIds = new Map<string, string>();
  const repeated = new Set<string>();
  for (const { orderId, deduplicationId, messageId } of sends) {
    const first = messageIds.get(deduplicationId) ?? messageId;
    messageIds.set(deduplicationId, first);
    if (first !== messageId) repeated.add(orderId);
  }
  return repeated;
}

function happenedTo({ tenant, idempotencyKey }: OrderRow, incident: Incident): Happened {
  return { tenant: tenant as Tenant, key: idempotencyKey, incident };
}
