// One load run: sends the planned requests, asks once more for each order, waits until all is quiet, and counts.
import { setMaxListeners } from "node:events";
import type { Progress } from "../../progress.ts";
import { createJournal, type Journal } from "../demo/journal.ts";
import { askLast } from "./ask-last.ts";
import type { Observed } from "./observed.ts";
import type { LoadOptions } from "./options.ts";
import { startOwnService } from "./own-service.ts";
import type { Ask, LoadPlan } from "./plan-load.ts";
import { findRunningService } from "./running-service.ts";
import { type SendOptions, type Sent, sendAsks } from "./send-asks.ts";
import type { Service } from "./service.ts";

export interface RunLoadOptions {
  readonly plan: LoadPlan;
  readonly options: LoadOptions;
  /** A DynamoDB that runs already, for a sample that is started. @default - one is started */
  readonly dynamodbEndpoint?: string | undefined;
  readonly signal: AbortSignal;
  readonly onStarted?: ((service: Service) => void) | undefined;
  readonly progress: Pick<Progress, "step">;
}

const LATE_SECONDS = 30;

/** The steps of the progress line. */
export function stepsOf({ asks, orders }: LoadPlan): number {
  return asks.length + orders.length + 1;
}

/** Leaves nothing running, however it ends. @throws the signal's reason, once it aborts */
export async function runLoad(running: RunLoadOptions): Promise<Observed> {
  const { options, plan, dynamodbEndpoint, signal, onStarted, progress } = running;
  // Every request that reads an order listens for the end.
  setMaxListeners(0, signal);
  const journal = createJournal();
  const { target, seed, connections } = options;
  const service =
    target.kind === "own"
      ? await startOwnService({ target, seed, dynamodbEndpoint, signal })
      : await findRunningService({ target, plan, answers: journal.answers, signal });
  const sending = { url: service.url, connections, journal, signal };
  try {
    onStarted?.(service);
    const { sent, tooEarly } = await sendPlanned(running, sending);
    const onDone = () => progress.step("last requests");
    const stuck = await askLast({ ...sending, orders: plan.orders, onDone });
    const late = tooEarly.filter(({ order }) => !stuck.includes(order));
    const unanswered = sent.unanswered + (await sendLate(late, sending));
    await service.settle();
    progress.step("settled");
    return {
      sent: { ...sent, unanswered },
      answers: journal.answers,
      stuck,
      effects: await service.effects(),
      faults: service.faults(),
    };
  } finally {
    await service.stop();
  }
}

interface Sending extends Pick<SendOptions, "url" | "connections" | "signal"> {
  readonly journal: Journal;
}

/** @returns also the requests that couldn't be sent in their turn: the first one has the key, and must have the order's body */
async function sendPlanned(
  { plan: { asks }, options: { seconds }, progress }: RunLoadOptions,
  sending: Sending,
): Promise<{ sent: Sent; tooEarly: Ask[] }> {
  const planned = asks.values();
  const tooEarly: Ask[] = [];
  const sent = await sendAsks({
    ...sending,
    seconds,
    amount: asks.length,
    nextAsk() {
      const ask = planned.next().value!;
      if (ask.asked === "order" || sending.journal.orderIdOf(ask.order) !== undefined) return ask;
      tooEarly.push(ask);
      return { ...ask, asked: "order" };
    },
    onAnswer: () => progress.step("requests"),
  });
  return { sent, tooEarly };
}

/** @returns how many had no answer */
async function sendLate(asks: readonly Ask[], sending: Sending): Promise<number> {
  if (asks.length === 0) return 0;
  const rest = asks.values();
  const nextAsk = () => rest.next().value!;
  const sent = await sendAsks({ ...sending, amount: asks.length, seconds: LATE_SECONDS, nextAsk });
  return sent.unanswered;
}
