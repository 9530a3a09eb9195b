/** Faults by seed, for schedules: which I/O fails, and how. */
import { canHave, entriesIn } from "./exchange.ts";
import { FAULT_KINDS, type Fault, type FaultKind } from "./fault.ts";
import type { Io } from "./io.ts";
import type { Faults } from "./network.ts";
import { SeededRandom } from "./seeded-random.ts";

export interface RandomFaultsOptions {
  readonly seed: number | string;
  /** The part of all I/Os that has a fault, from 0 to 1. @default 0.1 */
  readonly rate?: number | undefined;
  /** @default - all of them */
  readonly kinds?: readonly FaultKind[] | undefined;
  /** How many faults there are at most, so that things come to an end. @default - no bound */
  readonly most?: number | undefined;
}

const SLOW_MS = [50, 1000, 5000, 20_000, 70_000] as const;
const FROZEN_MS = [50, 2000, 15_000, 60_000, 600_000] as const;

/** A kind that an I/O cannot have leaves it without a fault. */
export function randomFaults(options: RandomFaultsOptions): Faults {
  const { seed, rate = 0.1, kinds = FAULT_KINDS, most = Number.POSITIVE_INFINITY } = options;
  const random = new SeededRandom(`faults ${seed}`);
  let count = 0;
  return function faultOf(io: Io): Fault | undefined {
    // Each I/O draws as often as any other, so that one more fault does not shift those behind it.
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
