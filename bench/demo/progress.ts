// Shows how far the run is: one line that is drawn again and again on a terminal, a plain line now and then elsewhere.

export interface ProgressState {
  readonly done: number;
  readonly total: number;
  readonly requests: number;
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
      const filled = Math.round((BAR_WIDTH * state.done) / state.total);
      const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
      // A line that wraps could not be drawn over.
      output.write(CLEAR_LINE + `${bar} ${describe(state)}`.slice(0, (output.columns ?? 80) - 1));
    },
    end: () => output.write(CLEAR_LINE),
  };
}

function plainLinesOn(output: ProgressOutput): Progress {
  let shown = 0;
  return {
    show(state) {
      const part = Math.floor((PLAIN_LINES * state.done) / state.total);
      if (part <= shown) return;
      shown = part;
      output.write(`${describe(state)}\n`);
    },
    end: () => undefined,
  };
}

function describe({ done, total, requests, kills, lostAnswers, seconds }: ProgressState): string {
  return `${done}/${total} orders, ${seconds} s, ${requests} requests, ${kills} kills, ${lostAnswers} lost answers`;
}
