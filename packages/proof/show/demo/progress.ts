// Shows a run's progress. A terminal has one line, drawn again and again, about the slower column. Elsewhere
// there is a plain line now and then.

/** A disturbance of the service: see play-plan.ts. */
export type Phase =
  | "stream off"
  | "sweeper"
  | "orders"
  | "redeliveries"
  | "redrive"
  | "parked messages"
  | "sagas";

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

/** The column of the table, and how far it is. */
export interface ColumnState extends ProgressState {
  readonly column: "with onceonly" | "without onceonly";
}

export interface Progress {
  /** Shows the slow steps before a plan can be played. */
  prepare(what: string): void;
  show(state: ColumnState): void;
  /** Clears the line, if there is one. */
  end(): void;
}

export interface ProgressOutput {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

const BAR_WIDTH = 20;
const PLAIN_LINES = 4;
const CLEAR_LINE = "\r\x1b[2K";
const TURN_MS = 250;
const TURNS = ["|", "/", "-", "\\"];

export function createProgress(output: ProgressOutput): Progress {
  return output.isTTY ? barOn(output) : plainLinesOn(output);
}

function barOn(output: ProgressOutput): Progress {
  const states = new Map<string, ColumnState>();
  let turning: NodeJS.Timeout | undefined;
  // A line that wraps could not be drawn over.
  const draw = (line: string) => output.write(CLEAR_LINE + line.slice(0, (output.columns ?? 80) - 1));
  return {
    prepare(what) {
      clearInterval(turning);
      let turns = 0;
      const turn = () => draw(`${TURNS[turns++ % TURNS.length]} ${what} …`);
      turn();
      turning = setInterval(turn, TURN_MS).unref();
    },
    show(state) {
      clearInterval(turning);
      states.set(state.column, state);
      const last = [...states.values()].reduce((one, other) =>
        shareDone(one) <= shareDone(other) ? one : other,
      );
      const filled = Math.round(BAR_WIDTH * shareDone(last));
      const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
      draw(`${bar} ${describe(last)}`);
    },
    end() {
      clearInterval(turning);
      output.write(CLEAR_LINE);
    },
  };
}

/** A line for each phase of a column that begins, and for each quarter. */
function plainLinesOn(output: ProgressOutput): Progress {
  const shown = new Map<string, { readonly phase: Phase; readonly part: number }>();
  return {
    prepare: (what) => output.write(`${what} …\n`),
    show(state) {
      const before = shown.get(state.column);
      const part = Math.max(before?.part ?? 0, Math.floor(PLAIN_LINES * shareDone(state)));
      if (part === before?.part && state.phase === before.phase) return;
      shown.set(state.column, { phase: state.phase, part });
      output.write(`${describe(state)}\n`);
    },
    end: () => undefined,
  };
}

/** An order is half done when its clients are. Without onceonly there are more orders than planned. */
function shareDone({ total, answered, settled }: ProgressState): number {
  return (answered + Math.min(total, settled)) / (2 * total);
}

function describe(state: ColumnState): string {
  const { column, phase, total, answered, settled, kills, lostAnswers, seconds } = state;
  return `${column}, ${phase}: ${answered} of ${total} answered, ${settled} settled, ${seconds} s, kills: ${kills}, answers cut off: ${lostAnswers}`;
}
