// What comes of a call that Middy has timed out early, by what it answers and whether the handler tells.
import type { Row } from "./hook-row.ts";

/** Middy gives up waiting; the handler goes on, and returns "late". */
export interface TimeoutRow extends Row {
  readonly tells: boolean;
  readonly answer: () => unknown;
  /** Before the handler has returned. */
  readonly state: "completed" | "released" | "in-progress";
  readonly told: readonly string[];
  /** The first answer, and that of a retry after the handler has returned. */
  readonly answers: readonly [first: string, retry: string];
}

const ownError = () => {
  throw new Error("timed out");
};
/** As Middy's own `timeoutEarlyResponse` throws it. */
const middysError = () => {
  const cause = { package: "@middy/core" };
  throw Object.assign(new Error("timed out", { cause }), { name: "TimeoutError" });
};
const leftOpen = {
  state: "in-progress",
  told: ["outcome-unknown"],
  recorded: "nothing yet: left open",
  retry: "in progress; then what the handler came to, or runs when the lease has ended",
} as const;

export const TIMEOUT_ROWS: readonly TimeoutRow[] = [
  {
    where: "early timeout",
    what: "Middy's own error; the handler tells",
    ...leftOpen,
    caller: "the error",
    tells: true,
    answer: middysError,
    answers: ["timed out", "late"],
  },
  {
    where: "early timeout",
    what: "Middy's own error; the handler does not tell",
    ...leftOpen,
    caller: "the error",
    retry: "in progress; then what the handler has committed, or runs when the lease has ended",
    tells: false,
    answer: middysError,
    answers: ["timed out", "second"],
  },
  {
    where: "early timeout",
    what: "a value; the handler tells",
    ...leftOpen,
    caller: "the value",
    tells: true,
    answer: () => "timed out",
    answers: ["timed out", "late"],
  },
  {
    where: "early timeout",
    what: "an error of its own; the handler tells",
    ...leftOpen,
    caller: "the error",
    tells: true,
    answer: ownError,
    answers: ["timed out", "late"],
  },
  {
    where: "early timeout",
    what: "a value; the handler does not tell",
    recorded: "the value, like one of the handler's",
    caller: "the value",
    retry: "the same",
    tells: false,
    answer: () => "timed out",
    state: "completed",
    told: ["executed"],
    answers: ["timed out", "timed out"],
  },
  {
    where: "early timeout",
    what: "an error of its own; the handler does not tell",
    recorded: "released, like for one of the handler's; left open once `signal` has aborted",
    caller: "the error",
    retry: "runs; in progress",
    tells: false,
    answer: ownError,
    state: "released",
    told: ["released"],
    answers: ["timed out", "second"],
  },
];
