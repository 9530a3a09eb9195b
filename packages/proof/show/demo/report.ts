// The rows of the table at the end, counted from one run of the plan. Pure.

import { chargesIn } from "../../../../test/kit/shop/judge.ts";
import { harmDone } from "./contrast.ts";
import { RELAY_KILL_POINTS } from "./dispatch-plan.ts";
import type { Observation } from "./observation.ts";
import { KILL_POINTS } from "./order-plan.ts";
import type { Plan } from "./plan.ts";
import { sagaRows } from "./sagas/saga-rows.ts";
import type { Row, Section } from "./table.ts";

export function reportSections(plan: Plan, observation: Observation): Section[] {
  return [
    { title: "orders", rows: orderRows(observation) },
    { title: "messages", rows: messageRows(observation) },
    { title: "done to the service on purpose", rows: disturbanceRows(observation) },
    { title: "messages for a queue that does not exist yet, on purpose", rows: receiptRows(observation) },
    { title: "effects", rows: effectRows(plan, observation) },
    { title: "orders of another service, each by one saga", rows: sagaRows(plan.sagas, observation.sagas) },
  ];
}

function orderRows({ requests, answers, executions, incidents }: Observation): Row[] {
  const answersWith = (wanted: (status: number) => boolean) =>
    answers.filter(({ status }) => wanted(status)).length;
  const replayed = answers.filter((answer) => answer.replayed).length;
  const disconnected = incidents.filter(({ incident }) => incident === "client gave up").length;
  return [
    row("requests", requests, "HTTP requests, including retries"),
    row("executed", executions.orders, "handlers started, including killed ones"),
    row("replayed", replayed, "answered from the record"),
    row(
      "in progress",
      answersWith((status) => status === 409),
      "409: another request with the key was in progress",
    ),
    row(
      "mismatch",
      answersWith((status) => status === 422),
      "422: the same key with another body",
    ),
    row(
      "unavailable",
      answersWith((status) => status >= 500),
      "5xx: the function was killed, or DynamoDB was unreachable",
    ),
    row("disconnected", disconnected, "clients that disconnected before the response"),
  ];
}

function messageRows({ sends, sweeperSends, deliveries, executions, redriven }: Observation): Row[] {
  const repetitions = sends.filter(({ isDropped }) => isDropped).length;
  const endedWith = (wanted: string) => deliveries.filter(({ end }) => end === wanted);
  const replayed = endedWith("acknowledged").filter(({ hasCommitted }) => !hasCommitted).length;
  return [
    row("sent", sends.length, "accepted by the queue"),
    row("duplicates", repetitions, "of these, recognized as duplicates within 5 minutes"),
    {
      ...row("sent by sweeper", sweeperSends, "commits that the relay missed"),
      isOurs: true,
    },
    row("delivered", deliveries.length, "to the consumer"),
    row("executed", executions.payments, "handlers started, including killed ones"),
    row("replayed", replayed, "acknowledged without a second charge"),
    row(
      "returned",
      endedWith("returned").length,
      "the gateway was down, or another consumer had the message",
    ),
    row("interrupted", endedWith("lost").length, "batches of killed consumers: all were delivered again"),
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
  const streamOff = happened("committed while the stream was off");
  const sentTwice = happened("sent again when the queue had forgotten it");
  return [
    kills("order function", KILL_POINTS),
    { ...kills("relay", RELAY_KILL_POINTS), isOurs: true },
    kills("consumer", KILL_POINTS),
    { ...row("stream off", streamOff, "orders committed meanwhile"), isOurs: true },
    { ...row("sent twice", sentTwice, "both copies delivered"), isOurs: true },
    row("sent again", happened("sent again by a producer"), "under other ids"),
    row(
      "overlapping",
      happened("delivered again while the consumer ran"),
      "the visibility timeout was too short",
    ),
    row("gateway down", refusals, "charges refused"),
    row("gateway errors", happened("gateway failed"), "orders: two errors before the charge"),
    row(
      "gateway silent",
      happened("gateway charged and did not answer"),
      "orders: charged, response cut off",
    ),
    row("responses cut off", lostAnswers.dynamodb, "DynamoDB wrote, and the function got no response"),
    row("sends unconfirmed", lostAnswers.sqs, "SQS accepted, and the sender got no response"),
    row("throttles", throttles, "writes that DynamoDB throttled"),
  ];
}

function receiptRows({ receipts }: Observation): Row[] {
  const { committed, parked, copies, redirected, sentAgain } = receipts;
  return [
    row("commits", committed, "each with one message for it and a copy for a healthy queue"),
    row("copies", copies.length, "in the healthy queue, once each, while the other queue was missing"),
    row("parked", parked, "kept and reported, after 4 days without the queue"),
    row("sent again", sentAgain.length, "arrived, once the queue existed"),
    row("redirected", redirected.length, "arrived in another queue"),
  ].map((each) => ({ ...each, isOurs: true }));
}

function effectRows(plan: Plan, observation: Observation): Row[] {
  const { rows, payments, ledger } = observation;
  const inState = (wanted: string) => rows.filter(({ state }) => state === wanted).length;
  const { orderedTwice, chargedTwice, answeredTwice, unsettled } = harmDone(plan, observation);
  const { length: wanted } = plan.orders;
  const declined = plan.orders.filter(({ payment }) => payment.kind === "declined").length;
  const charges = chargesIn(ledger).length;
  return [
    row("orders expected", wanted, "one per key and tenant"),
    { ...row("orders found", rows.length, "rows in the table"), due: wanted },
    { ...row("ordered twice", orderedTwice, "keys with more than one order"), due: 0 },
    { ...row("answered twice", answeredTwice, "keys whose clients got different orders"), due: 0 },
    { ...row("paid", inState("paid"), "by their state"), due: wanted - declined },
    { ...row("declined", inState("declined"), "by their state"), due: declined },
    { ...row("never settled", unsettled, "neither paid nor declined"), due: 0 },
    { ...row("payments found", payments.length, "rows in the table"), due: wanted - declined },
    { ...row("charges found", charges, "entries in the gateway's ledger"), due: wanted - declined },
    { ...row("charged twice", chargedTwice, "keys with more charges than expected"), due: 0 },
  ];
}

function row(name: string, count: number, meaning: string): Row {
  return { name, count, meaning };
}
