// One line on a terminal that shows a run's progress; a few plain lines if there is no terminal.

const WIDTH = 30;

export interface Progress {
  /** One more of the announced steps is done. */
  step(label: string): void;
  end(): void;
}

export function startProgress(steps: number, output: NodeJS.WriteStream = process.stderr): Progress {
  let done = 0;
  let lastLabel = "";
  const draw = (label: string) => {
    const filled = Math.round((WIDTH * done) / steps);
    const bar = "█".repeat(filled) + "░".repeat(WIDTH - filled);
    output.write(`\r\x1b[2K${bar} ${String(Math.round((100 * done) / steps)).padStart(3)} %  ${label}`);
  };
  return {
    step(label) {
      done++;
      if (output.isTTY) draw(label);
      else if (label !== lastLabel) output.write(`${label}\n`);
      lastLabel = label;
    },
    end() {
      if (output.isTTY) output.write("\r\x1b[2K");
    },
  };
}
