/** Colours and the progress line, for a person at a terminal. */
type Environment = Readonly<Record<string, string | undefined>>;

/** @see https://no-color.org */
export function hasColours({ isTTY }: { readonly isTTY?: boolean }, env: Environment): boolean {
  return isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
}

const BAR = 30;
const CLEAR = "\r\u001b[K";

/** One line that's drawn again and again, and cleared before anything else is printed. */
export function progressLine(write: (text: string) => unknown) {
  let isDrawn = false;
  return {
    draw(done: number, total?: number): void {
      const full = total === undefined ? 0 : Math.round((done / total) * BAR);
      const bar = `${"█".repeat(full)}${"░".repeat(BAR - full)} ${done} of ${total}`;
      write(`\r${total === undefined ? `${done} read …` : bar}`);
      isDrawn = true;
    },
    clear(): void {
      if (isDrawn) write(CLEAR);
      isDrawn = false;
    },
  };
}
