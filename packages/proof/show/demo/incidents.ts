// The deliberate disturbances of the service, by name; and which of them an order's plan contains. Pure.
import type { RelayKillPoint } from "./dispatch-plan.ts";
import type { KillPoint } from "./order-plan.ts";
import type { PlannedOrder } from "./plan.ts";
import type { Tenant } from "./tenants.ts";

export type Incident =
  | "client gave up"
  | `order function killed ${KillPoint}`
  | `relay killed ${RelayKillPoint}`
  | "committed while the stream was off"
  | "sent by the sweeper"
  | "sent again when the queue had forgotten it"
  | "sent again by a producer"
  | `consumer killed ${KillPoint}`
  | "delivered again while the consumer ran"
  | "gateway failed"
  | "gateway charged and did not answer"
  | "redriven from the dead-letter queue";

/** One that happened. */
export interface Happened {
  readonly tenant: Tenant;
  readonly key: string;
  readonly incident: Incident;
}

export function incidentsPlanned({ behaviour, dispatch, payment }: PlannedOrder): Incident[] {
  const incidents: Incident[] = [];
  if (behaviour.kind === "abandoned") incidents.push("client gave up");
  if (behaviour.kind === "killed") incidents.push(`order function killed ${behaviour.killAt}`);
  if (dispatch.kind === "relay-killed") incidents.push(`relay killed ${dispatch.killAt}`);
  if (dispatch.kind === "late") incidents.push("committed while the stream was off");
  if (dispatch.kind === "swept") incidents.push("committed while the stream was off", "sent by the sweeper");
  if (dispatch.kind === "sent-twice") incidents.push("sent again when the queue had forgotten it");
  if (payment.kind === "killed") incidents.push(`consumer killed ${payment.killAt}`);
  if (payment.kind === "redelivered") incidents.push("delivered again while the consumer ran");
  if (payment.kind === "failing") incidents.push("gateway failed");
  if (payment.kind === "answer-lost") incidents.push("gateway charged and did not answer");
  if (payment.kind === "poison") incidents.push("redriven from the dead-letter queue");
  const resends = payment.kind === "resent" ? payment.times : 0;
  for (let time = 0; time < resends; time++) incidents.push("sent again by a producer");
  return incidents;
}
