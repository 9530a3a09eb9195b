// What must be true after every schedule, whatever went wrong in it.
import { countProblems, dueFor, stateProblems } from "../../../../../test/kit/shop/judge.ts";
import { rowsOf } from "../given.ts";
import type { Plan, Played } from "./sample.ts";

/** What is wrong, in words; nothing if all is well. */
export async function faultsOf(plan: Plan, { aws, gateway, answers }: Played): Promise<string[]> {
  const wrong: string[] = [];
  const due = dueFor();
  const orders = await rowsOf(aws, "orders");
  // Beside the records there are the notes of relay and sweeper.
  const records = (await rowsOf(aws, "idempotency")).filter(({ pk }) => !pk?.S?.startsWith("#outbox"));

  for (let key = 1; key <= plan.keys; key++) {
    const name = `key-${key}`;
    const own = orders.filter(({ idempotencyKey }) => idempotencyKey?.S === name);
    wrong.push(...countProblems("order", due, own.length).map((what) => `${name}: ${what}`));
    const said = answers.get(name) ?? [];
    for (const { statusCode, tries } of said) {
      if (statusCode !== 201) wrong.push(`${statusCode} after ${tries} tries for ${name}`);
    }
    if (new Set(said.map(({ body }) => body)).size > 1) wrong.push(`different answers for ${name}`);
  }
  for (const { state } of records)
    if (state?.S !== "completed") wrong.push(`a record is ${state?.S} for ever`);
  if (!plan.withPayments) return wrong;

  const payments = await rowsOf(aws, "payments");
  const charges = [...gateway.charges.values()];
  for (const { id, state } of orders) {
    const ofOrder = payments.filter(({ orderId }) => orderId?.S === id?.S);
    const charged = charges.filter(({ orderId }) => orderId === id?.S);
    wrong.push(
      ...countProblems("payment", due, ofOrder.length),
      ...stateProblems([{ state: state?.S }], due),
      ...countProblems("charge", due, charged.length),
    );
  }
  if (records.some(({ unsentSince }) => unsentSince)) wrong.push("messages are not marked as sent");
  const left = aws.sqs.backlog(process.env.PAYMENTS_QUEUE_URL!).messages;
  if (left > 0) wrong.push(`${left} messages are left in the queue`);
  return wrong;
}
