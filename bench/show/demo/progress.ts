// Shows how far the run is: one line that is drawn again and again on a terminal, a plain line now and then elsewhere.

/** What is done to the service: see play-plan.ts. */
export type Phase = "stream off" | "sweeper" | "orders" | "redeliveries" | "redrive" | "parked messages";

export interface ProgressState {
  readonly phase: Phase;
  /** Orders that are planned. */
  readonly total: number;
  /** Orders whose clients have their answers. */
  readonly answered: number;
  /** Orders whose message was acknowledged. */
  readonly settled: number;
  readonly kills: number;
  readonly lostAnswers: number;
  readonly seconds: number;
}

export interface Progress {
  show(state: ProgressState): void;
  /** Clears the line, if there is one. */
  end(): void;
}

export interface ProgressOutput {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

const BAR_WIDTH = 30;
const PLAIN_LINES = 4;
const CLEAR_LINE = "\r\x1b[2K";

export function createProgress(output: ProgressOutput): Progress {
  return output.isTTY ? barOn(output) : plainLinesOn(output);
}

function barOn(output: ProgressOutput): Progress {
  return {
    show(state) {
      const filled = Math.min(BAR_WIDTH, Math.round(BAR_WIDTH * shareDone(state)));
      const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
      // A line that wraps could not be drawn over.
      output.write(CLEAR_LINE + `${bar} ${describe(state)}`.slice(0, (output.columns ?? 80) - 1));
    },
    end: () => output.write(CLEAR_LINE),
  };
}

/** A line for each phase that begins, and for each quarter. */
function plainLinesOn(output: ProgressOutput): Progress {
  let shown = "";
  let part = 0;
  return {
    show(state) {
      const reached = Math.max(part, Math.floor(PLAIN_LINES * shareDone(state)));
      if (reached === part && state.phase === shown) return;
      part = reached;
      shown = state.phase;
      output.write(`${describe(state)}\n`);
    },
    end: () => undefined,
  };
}

/** An order is half done when its clients are. */
function shareDone({ total, answered, settled }: ProgressState): number {
  return (answered + settled) / (2 * total);
}

function describe({ phase, total, answered, settled, kills, lostAnswers, seconds }: ProgressState): string {
  return `${phase}: ${answered}/${total} ordered, ${settled} settled, ${seconds} s, ${kills} kills, ${lostAnswers} lost answers`;
}
