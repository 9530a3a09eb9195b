// When a process is killed, as requests to DynamoDB tell it; and what becomes of the request that told.
import type { ProxyFault } from "../../../local/lib/fault-proxy.ts";
import type { RelayKillPoint } from "./dispatch-plan.ts";
import type { Faults } from "./faults.ts";
import type { KillPoint } from "./order-plan.ts";
import type { Moment } from "./request-reading.ts";

type Point = KillPoint | RelayKillPoint;

const MOMENT_OF: Readonly<Record<Point, Moment>> = {
  "before-claim": "claim",
  "after-claim": "claim",
  "before-commit": "commit",
  "after-commit": "commit",
  "before-mark": "mark",
  "after-mark": "mark",
};

/** Kills once, at that point of that record; a `kill` that finds no process to kill answers with false, and is asked again. */
export function killAt(
  faults: Pick<Faults, "on">,
  recordKey: string,
  point: Point,
  kill: () => boolean,
): void {
  const stop = faults.on(recordKey, MOMENT_OF[point], (): ProxyFault | undefined => {
    if (!kill()) return undefined;
    stop();
    // What was asked by a process that is dead is carried out, or is not: nobody is there to hear of it.
    return point.startsWith("before") ? "throttle" : "pass";
  });
}
