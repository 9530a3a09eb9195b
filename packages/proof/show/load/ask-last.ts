// One last request for each order: any client that asks when all is quiet must get the order, or its key is stuck.
import { setTimeout as sleep } from "node:timers/promises";
import type { Ask, LoadOrder } from "./plan-load.ts";
import { type SendOptions, sendAsks } from "./send-asks.ts";

export interface AskLastOptions extends Pick<SendOptions, "url" | "connections" | "journal" | "signal"> {
  readonly orders: readonly LoadOrder[];
  readonly onDone: () => void;
}

/** Longer than any lease of the order function. */
const PATIENCE_SECONDS = 30;
const ASK_AGAIN_AFTER_MS = 500;

/** @returns the orders whose keys are stuck */
export async function askLast({ orders, onDone, ...sending }: AskLastOptions): Promise<LoadOrder[]> {
  const open = new Set(orders);
  const stuck: LoadOrder[] = [];
  const endMs = Date.now() + PATIENCE_SECONDS * 1000;
  for (;;) {
    const asks = [...open].map((order): Ask => ({ order, asked: "order" })).values();
    await sendAsks({
      ...sending,
      amount: open.size,
      seconds: PATIENCE_SECONDS,
      nextAsk: () => asks.next().value!,
      onAnswer: ({ order }, status) => {
        if (isPassing(status) || !open.delete(order)) return;
        onDone();
        if (status !== 201) stuck.push(order);
      },
    });
    if (open.size === 0 || Date.now() > endMs) return [...stuck, ...open];
    await sleep(ASK_AGAIN_AFTER_MS, undefined, { signal: sending.signal });
  }
}

/** In progress, or failed: asked again, it may be another answer. */
function isPassing(status: number): boolean {
  return status === 409 || status >= 500;
}
