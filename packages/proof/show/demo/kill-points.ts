// When a process is killed, recognized by requests to DynamoDB; and what happens to the request that triggers it.
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

/** Kills once, at that point of that record; a `kill` that finds no process to kill returns false, and is called again. */
export function killAt(
  faults: Pick<Faults, "on">,
  recordKey: string,
  point: Point,
  kill: () => boolean,
): void {
  const stop = faults.on(recordKey, MOMENT_OF[point], (): ProxyFault | undefined => {
    if (!kill()) return undefined;
    stop();
    // A dead process's request is executed, or is not: the process can't receive the response.
    return point.startsWith("before") ? "throttle" : "pass";
  });
}
