// The red-team runs: each does to one contestant what networks, pauses and busy tables do, and reports what came of it.
import { postOrder } from "../../bench/contestants/lambda-call.ts";
import type { Lab, Order } from "./lab.ts";

export interface Seen {
  readonly effects: number;
  /** What each call got, in the order in which the calls were made. */
  readonly answers: readonly string[];
}

export type Run = (lab: Lab) => Promise<Seen>;

const event = { id: "key-1", item: "book" };

/** Longer than any lease here. */
const PAST_THE_LEASE_MS = 60_000;

/** A: the engine applies the claim, its answer gets lost, and the SDK sends the claim again. */
export const lostClaimAnswer: Run = async (lab) => {
  const invoke = lab.deploy(async () => lab.makeOrder());
  let requests = 0;
  lab.faults = () => (++requests === 1 ? "lose-answer" : "pass");

  const first = await invoke(event);
  const retry = await invoke(event);
  return { effects: lab.effects, answers: [first, retry] };
};

/** B: one environment freezes until its lease has ended and another one has finished; then it finishes too. */
export const zombieCompletes: Run = (lab) => wakeZombie(lab, (order) => order);

/** C: the same, but the frozen one fails when it wakes up. */
export const zombieFails: Run = (lab) =>
  wakeZombie(lab, () => {
    throw new TypeError("the zombie fails");
  });

async function wakeZombie(lab: Lab, wakeUp: (order: Order) => Order): Promise<Seen> {
  const started = gate();
  const thawed = gate();
  const zombie = lab.deploy(async () => {
    const order = lab.makeOrder();
    started.open();
    await thawed.opened;
    return wakeUp(order);
  });
  const winner = lab.deploy(async () => lab.makeOrder());

  const late = zombie(event);
  await started.opened;
  lab.skipTime(PAST_THE_LEASE_MS);
  const won = await winner(event);
  thawed.open();
  const answered = await late;
  const third = await winner(event);
  return { effects: lab.effects, answers: [answered, won, third] };
}

/** D: the completion is throttled for as long as the SDK tries; then the table takes writes again. */
export const throttledCompletion: Run = async (lab) => {
  const invoke = lab.deploy(async () => {
    const order = lab.makeOrder();
    let requests = 0;
    if (order.order === 1) lab.faults = () => (++requests <= 3 ? "throttle" : "pass");
    return order;
  });
  const answers = await callThreeTimes(lab, invoke);
  return { effects: lab.effects, answers };
};

/**
 * D, worse: the table takes no writes until the first invocation is over. The effect is an order in DynamoDB, so
 * that it can be part of the completion where a package offers that.
 */
export const refusedCompletion: Run = async (lab) => {
  let attempts = 0;
  const invoke = lab.deploy(async (context) => {
    const order = { order: ++attempts };
    if (attempts === 1) {
      const { recordsTable } = lab;
      lab.faults = ({ body }) => (JSON.stringify(body).includes(recordsTable) ? "throttle" : "pass");
    }
    await lab.contestant.storeOrder(lab, context, order);
    return order;
  });
  const answers = await callThreeTimes(lab, invoke);
  return { effects: await lab.storedOrders(), answers };
};

/** D, at its worst: the same with an effect outside DynamoDB, which no transaction can cover. */
export const lostCompletion: Run = async (lab) => {
  const invoke = lab.deploy(async () => {
    const order = lab.makeOrder();
    if (order.order === 1) lab.faults = () => "throttle";
    return order;
  });
  const answers = await callThreeTimes(lab, invoke);
  return { effects: lab.effects, answers };
};

/** First, a retry at once, and one after the lease. Whatever was wrong is over after the first. */
async function callThreeTimes(lab: Lab, invoke: (event: unknown) => Promise<string>): Promise<string[]> {
  const first = await invoke(event);
  lab.faults = () => "pass";
  const retry = await invoke(event);
  lab.skipTime(PAST_THE_LEASE_MS);
  return [first, retry, await invoke(event)];
}

const PAYLOADS = ['{"account":9007199254740992}', '{"account":9007199254740993}'];

/** E: two events that differ in an integer that JavaScript cannot hold, as Lambda's runtime parses them. */
export const bigIntegersInEvents: Run = async (lab) => {
  const invoke = lab.deployForWholeEvents(async () => lab.makeOrder());
  const answers: string[] = [];
  for (const payload of PAYLOADS) answers.push(await invoke({ id: "key-1", ...JSON.parse(payload) }));
  return { effects: lab.effects, answers };
};

/** E, as bodies of HTTP requests under one key. */
export const bigIntegersInBodies: Run = async (lab) => {
  const invoke = lab.deployHttp(async () => lab.makeOrder());
  const answers: string[] = [];
  for (const payload of PAYLOADS) answers.push(await invoke(postOrder("key-1", payload)));
  return { effects: lab.effects, answers };
};

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
