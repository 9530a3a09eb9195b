// The faults, decided in the same way for every contestant: by what a request writes, not by who sends it. Pure.
import { createHash } from "node:crypto";

/**
 * `die-before` and `die-after`: the process ends when it would send this request, or after the engine has executed
 * it. `lose-answer`: the engine executed it, and the process never gets the response.
 */
export type Fault = "die-after" | "die-before" | "lose-answer" | undefined;

export interface ObservedRequest {
  /** The orders whose effects the request writes: several if commits share a transaction. */
  readonly orderIds: readonly string[];
}

export type FaultPlan = (request: ObservedRequest) => Fault;

export const CRASH_SHARE = 0.02;
export const LOST_SHARE = 0.02;

export const noFaults = (): FaultPlan => () => undefined;

/** Crashes at writes of effects: half of them come before the write, half after. */
export function crashes(): FaultPlan {
  const tries = new Map<string, number>();
  const decide = (orderId: string): Fault => {
    const nth = (tries.get(orderId) ?? 0) + 1;
    tries.set(orderId, nth);
    const chance = fractionOf(`${orderId} ${nth}`);
    if (chance >= CRASH_SHARE) return undefined;
    return chance < CRASH_SHARE / 2 ? "die-before" : "die-after";
  };
  return ({ orderIds }) => orderIds.map(decide).find((fault) => fault !== undefined);
}

/** Loses a share of the answers of all requests, whatever they are for. */
export function lostAnswers(): FaultPlan {
  let requests = 0;
  return () => (fractionOf(`request ${requests++}`) < LOST_SHARE ? "lose-answer" : undefined);
}

/** In [0, 1), the same for the same text. */
function fractionOf(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32;
}
