// The table at the end. Pure.

import { chargesIn } from "../../../kit/shop/judge.ts";
import { RELAY_KILL_POINTS } from "./dispatch-plan.ts";
import type { Observation } from "./observation.ts";
import { KILL_POINTS } from "./order-plan.ts";
import type { Plan } from "./plan.ts";

export interface Row {
  readonly name: string;
  readonly count: number;
  readonly meaning: string;
}

/** Rows of one part of the way from the request to the payment. */
export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

export function reportSections(plan: Plan, observation: Observation): Section[] {
  return [
    { title: "orders", rows: orderRows(observation) },
    { title: "messages", rows: messageRows(observation) },
    { title: "disturbances", rows: disturbanceRows(observation) },
    { title: "a queue that is not there", rows: receiptRows(observation) },
    { title: "effects", rows: effectRows(plan, observation) },
  ];
}

function orderRows({ requests, answers, executions, incidents }: Observation): Row[] {
  const answersWith = (wanted: (status: number) => boolean) =>
    answers.filter(({ status }) => wanted(status)).length;
  const replayed = answers.filter((answer) => answer.replayed).length;
  const gaveUp = incidents.filter(({ incident }) => incident === "client gave up").length;
  return [
    row("requests", requests, "HTTP, every retry included"),
    row("executed", executions.orders, "handlers started, those that died included"),
    row("replayed", replayed, "answered from the record"),
    row(
      "409s",
      answersWith((status) => status === 409),
      "another request was in progress",
    ),
    row(
      "422s",
      answersWith((status) => status === 422),
      "a key came with another body",
    ),
    row(
      "5xx",
      answersWith((status) => status >= 500),
      "a process died, or the store failed",
    ),
    row("gave up", gaveUp, "clients that broke off and came back"),
  ];
}

function messageRows({ sends, sweeperSends, deliveries, executions, redriven }: Observation): Row[] {
  const dropped = sends.filter(({ isDropped }) => isDropped).length;
  const endedWith = (wanted: string) => deliveries.filter(({ end }) => end === wanted);
  const replayed = endedWith("acknowledged").filter(({ hasCommitted }) => !hasCommitted).length;
  return [
    row("sent", sends.length, "accepted by the queue"),
    row("dropped", dropped, "of these, by the queue: it knew them from the last 5 minutes"),
    row("sent by sweeper", sweeperSends, "commits that the stream did not bring to the relay"),
    row("delivered", deliveries.length, "to the consumer"),
    row("executed", executions.payments, "handlers started, those that failed and died included"),
    row("replayed", replayed, "acknowledged without charging: it was done already"),
    row("returned", endedWith("returned").length, "failed, or in progress elsewhere"),
    row("lost", endedWith("lost").length, "with a consumer that was killed, the rest of its batch included"),
    row("redriven", redriven, "moved back from the dead-letter queue"),
  ];
}

function disturbanceRows(observation: Observation): Row[] {
  const { lostAnswers, throttles, refusals, incidents } = observation;
  const kills = (what: string, points: readonly string[]): Row => {
    const counts = points.map((point) => ({ point, count: happened(`${what} killed ${point}`) }));
    const meaning = counts.map(({ point, count }) => `${count} ${point.replace("-", " the ")}`).join(", ");
    return row(
      `${what} kills`,
      counts.reduce((sum, { count }) => sum + count, 0),
      `SIGKILL: ${meaning}`,
    );
  };
  const happened = (wanted: string) => incidents.filter(({ incident }) => incident === wanted).length;
  return [
    kills("order function", KILL_POINTS),
    kills("relay", RELAY_KILL_POINTS),
    kills("consumer", KILL_POINTS),
    row("stream off", happened("committed while the stream was off"), "orders committed meanwhile"),
    row("sent twice", happened("sent again when the queue had forgotten it"), "both copies delivered"),
    row("sent again", happened("sent again by a producer"), "under other ids, on purpose"),
    row("overtaken", happened("delivered again while the consumer ran"), "visibility ended too early"),
    row("gateway down", refusals, "charges that were refused"),
    row("gateway failed", happened("gateway failed"), "orders: twice out of order before the charge"),
    row("gateway silent", happened("gateway charged and did not answer"), "orders: charged, answer lost"),
    row("lost answers", lostAnswers.dynamodb, "DynamoDB wrote, and the answer was cut off"),
    row("lost receipts", lostAnswers.sqs, "SQS accepted, and the answer was cut off"),
    row("throttles", throttles, "DynamoDB refused a write"),
  ];
}

function receiptRows({ receipts }: Observation): Row[] {
  const { committed, parked, copies, redirected, sentAgain } = receipts;
  return [
    row("commits", committed, "each with a message for it, and a copy for a healthy queue"),
    row("copies", copies.length, "in the healthy queue, once each, while the other one was not there"),
    row("parked", parked, "kept and told, after 4 days without the queue"),
    row("sent on", sentAgain.length, "sent again once there was the queue: arrived"),
    row("redirected", redirected.length, "to another queue: arrived"),
  ];
}

function effectRows(plan: Plan, { rows, payments, ledger }: Observation): Row[] {
  const inState = (wanted: string) => rows.filter(({ state }) => state === wanted).length;
  return [
    row("orders expected", plan.orders.length, "one for each key of each tenant"),
    row("orders found", rows.length, "rows in the table"),
    row("paid", inState("paid"), "by their state"),
    row("declined", inState("declined"), "by their state"),
    row("payments found", payments.length, "rows in the table"),
    row("charges found", chargesIn(ledger).length, "entries in the gateway's ledger"),
  ];
}

function row(name: string, count: number, meaning: string): Row {
  return { name, count, meaning };
}

export function formatTable(sections: readonly Section[]): string {
  const all = sections.flatMap(({ rows }) => rows);
  const nameWidth = Math.max(...all.map(({ name }) => name.length));
  const countWidth = Math.max(...all.map(({ count }) => String(count).length));
  const lineOf = ({ name, count, meaning }: Row) =>
    `  ${name.padEnd(nameWidth)}  ${String(count).padStart(countWidth)}  ${meaning}`;
  return sections.map(({ title, rows }) => [title, ...rows.map(lineOf)].join("\n")).join("\n");
}
