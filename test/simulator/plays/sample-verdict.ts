// What must be true after every schedule, whatever went wrong in it.
import type { Plan, Played } from "./sample.ts";

type Attributes = Readonly<Record<string, { readonly S?: string }>>;

/** What is wrong, in words; nothing if all is well. */
export async function faultsOf(plan: Plan, { aws, gateway, answers }: Played): Promise<string[]> {
  const wrong: string[] = [];
  const rows = async (TableName: string): Promise<readonly Attributes[]> =>
    (await aws.dynamodb.call("Scan", { TableName, ConsistentRead: true })).Items as readonly Attributes[];
  const orders = await rows("orders");
  // Beside the records there are the notes of relay and sweeper.
  const records = (await rows("idempotency")).filter(({ pk }) => pk?.S !== "#outbox");

  for (let key = 1; key <= plan.keys; key++) {
    const name = `key-${key}`;
    const own = orders.filter(({ idempotencyKey }) => idempotencyKey?.S === name);
    if (own.length !== 1) wrong.push(`${own.length} orders instead of 1 for ${name}`);
    const said = answers.get(name) ?? [];
    for (const { statusCode, tries } of said) {
      if (statusCode !== 201) wrong.push(`${statusCode} after ${tries} tries for ${name}`);
    }
    if (new Set(said.map(({ body }) => body)).size > 1) wrong.push(`different answers for ${name}`);
  }
  for (const { state } of records)
    if (state?.S !== "completed") wrong.push(`a record is ${state?.S} for ever`);
  if (!plan.withPayments) return wrong;

  const payments = await rows("payments");
  const charges = [...gateway.charges.values()];
  for (const { id, state } of orders) {
    const paid = payments.filter(({ orderId }) => orderId?.S === id?.S);
    if (paid.length !== 1) wrong.push(`${paid.length} payments instead of 1 for an order`);
    if (state?.S !== "paid") wrong.push(`an order is ${state?.S}`);
    const charged = charges.filter(({ orderId }) => orderId === id?.S);
    if (charged.length !== 1) wrong.push(`${charged.length} charges instead of 1 for an order`);
  }
  if (records.some(({ unsentSince }) => unsentSince)) wrong.push("messages are not marked as sent");
  const left = aws.sqs.backlog(process.env.PAYMENTS_QUEUE_URL!).messages;
  if (left > 0) wrong.push(`${left} messages are left in the queue`);
  return wrong;
}
