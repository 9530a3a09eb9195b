// Finds the parts of the sample that the demo needs in a running stack, by construct path.
import type { RunningStack } from "../../../local/lib/index.ts";

/** @throws Error for a stack that has not all of it */
export function findSample(stack: RunningStack) {
  const apiAt = (wanted: string) => stack.apis.find(({ path }) => path === wanted)?.url;
  const hostOf = (path: string) => found(`function ${path}`, stack.functions[path]?.host);
  const nameOf = (path: string) => found(`table ${path}`, stack.tables[path]?.name);
  const queue = found("queue PaymentsQueue", stack.queues.PaymentsQueue);
  const deadLetters = found("queue PaymentsQueue/DeadLetters", stack.queues["PaymentsQueue/DeadLetters"]);
  const streams = Object.entries(stack.eventSources).filter(([path]) => path.startsWith("Outbox/Relay/"));
  return {
    apis: {
      orders: found("API of the orders", apiAt("Api")),
      gateway: found("API of the gateway", apiAt("GatewayApi")),
    },
    hosts: {
      createOrder: hostOf("CreateOrder"),
      placeOrder: hostOf("PlaceOrder"),
      relay: hostOf("Outbox/Relay"),
      sweeper: hostOf("Outbox/Sweeper"),
      chargePayment: hostOf("ChargePayment"),
    },
    /** The relay's event source. */
    stream: found("event source of Outbox/Relay", streams[0]?.[1]),
    /** The schedule of the sweeper. */
    schedule: found("schedule Outbox/Sweep", stack.schedules["Outbox/Sweep"]),
    tableNames: {
      orders: nameOf("Orders"),
      payments: nameOf("Payments"),
      ledger: nameOf("Ledger"),
      stock: nameOf("Stock"),
      records: nameOf("Idempotency"),
    },
    queues: { queueUrl: queue.url, deadLettersUrl: deadLetters.url, deadLettersArn: deadLetters.arn },
  };
}

function found<T>(what: string, value: T | undefined): T {
  if (value === undefined) throw new Error(`the stack has no ${what}; the demo needs the one of the sample`);
  return value;
}
