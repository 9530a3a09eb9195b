// The sweeper's work, by its own report.
import type { SweepReport } from "onceonly/messaging";
import type { FunctionHost } from "../../../local/lib/index.ts";
import { type Witness, witness } from "./witness.ts";

export interface Sweeper extends Pick<Witness<unknown>, "running"> {
  /** Commits whose messages it sent so far. */
  readonly sends: number;
}

export function watchSweeper(host: FunctionHost): Sweeper {
  let sends = 0;
  const { running } = witness(host, {
    onEnd: (_, answered) => {
      sends += (answered?.answer as SweepReport | undefined)?.sent ?? 0;
    },
  });
  return {
    running,
    get sends() {
      return sends;
    },
  };
}
