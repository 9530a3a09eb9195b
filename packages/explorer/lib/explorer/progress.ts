/** A progress bar for long explorations, only on a terminal. */
import { visible } from "onceonly/kit";

const WIDTH = 30;
const SHOWN_AFTER_MS = 1000;

export interface Progress {
  step(done: number, total: number): void;
  end(): void;
}

export function startProgress(name: string, output: NodeJS.WriteStream = process.stderr): Progress {
  const startedAt = Date.now();
  let isShown = false;
  return {
    step(done, total) {
      if (!output.isTTY || Date.now() - startedAt < SHOWN_AFTER_MS) return;
      isShown = true;
      const filled = Math.round((WIDTH * done) / total);
      output.write(
        `\r\x1b[2K${"█".repeat(filled)}${"░".repeat(WIDTH - filled)} ${done}/${total}  exploring ${visible(name)}`,
      );
    },
    end() {
      if (isShown) output.write("\r\x1b[2K");
    },
  };
}
