/** Random faults by seed, for schedules: the I/Os that fail, and their kinds of faults. */
import { canHave, entriesIn } from "./exchange.ts";
import { FAULT_KINDS, type Fault, type FaultKind } from "./fault.ts";
import type { Io } from "./io.ts";
import type { Faults } from "./network.ts";
import { SeededRandom } from "./seeded-random.ts";

export interface RandomFaultsOptions {
  readonly seed: number | string;
  /** The share of all I/Os that get a fault, from 0 to 1. @default 0.1 */
  readonly rate?: number | undefined;
  /** @default - all of them */
  readonly kinds?: readonly FaultKind[] | undefined;
  /** The maximum number of faults, so the run ends. @default - no limit */
  readonly most?: number | undefined;
}

const SLOW_MS = [50, 1000, 5000, 20_000, 70_000] as const;
const FROZEN_MS = [50, 2000, 15_000, 60_000, 600_000] as const;

/** An I/O that can't have the drawn kind gets no fault. */
export function randomFaults(options: RandomFaultsOptions): Faults {
  const { seed, rate = 0.1, kinds = FAULT_KINDS, most = Number.POSITIVE_INFINITY } = options;
  const random = new SeededRandom(`faults ${seed}`);
  let count = 0;
  return function faultOf(io: Io): Fault | undefined {
    // Each I/O draws equally often, so one more fault doesn't change the faults of later I/Os.
    const [draw, choice, detail, when] = [
      random.fraction(),
      random.fraction(),
      random.fraction(),
      random.fraction(),
    ];
    const kind = kinds[Math.floor(choice * kinds.length)];
    if (draw >= rate || count >= most || kind === undefined || !canHave(io, kind)) return undefined;
    count++;
    const side = when < 0.5 ? "before" : "after";
    switch (kind) {
      case "crash":
      case "unanswered":
        return { kind, when: side };
      case "refused":
        return { kind, code: "InternalServerError", status: 500 };
      case "refused-entries":
        return { kind, entries: [Math.floor(detail * entriesIn(io))], code: "InternalError" };
      case "freeze":
        return { kind, when: side, ms: FROZEN_MS[Math.floor(detail * FROZEN_MS.length)] as number };
      case "slow":
        return { kind, when: side, ms: SLOW_MS[Math.floor(detail * SLOW_MS.length)] as number };
      default:
        return { kind };
    }
  };
}
