// A call that Middy timed out early, by what `timeoutEarlyResponse` does and whether `once.handler` wraps the handler.
import type { Row } from "./hook-row.ts";

/** Middy gives up waiting; the handler goes on, and returns "late". */
export interface TimeoutRow extends Row {
  readonly reports: boolean;
  readonly answer: () => unknown;
  /** Before the handler has returned. */
  readonly state: "completed" | "released" | "in-progress";
  readonly reported: readonly string[];
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
  reported: ["outcome-unknown"],
  recorded: "nothing yet: left open",
  retry: "in progress; later the handler's own end, or runs after the lease",
} as const;

export const TIMEOUT_ROWS: readonly TimeoutRow[] = [
  {
    where: "early timeout",
    what: "Middy's own error; a wrapped handler",
    ...leftOpen,
    caller: "the error",
    reports: true,
    answer: middysError,
    answers: ["timed out", "late"],
  },
  {
    where: "early timeout",
    what: "Middy's own error; an unwrapped handler",
    ...leftOpen,
    caller: "the error",
    retry: "in progress; later what the handler committed, or runs after the lease",
    reports: false,
    answer: middysError,
    answers: ["timed out", "second"],
  },
  {
    where: "early timeout",
    what: "a value; a wrapped handler",
    ...leftOpen,
    caller: "the value",
    reports: true,
    answer: () => "timed out",
    answers: ["timed out", "late"],
  },
  {
    where: "early timeout",
    what: "its own error; a wrapped handler",
    ...leftOpen,
    caller: "the error",
    reports: true,
    answer: ownError,
    answers: ["timed out", "late"],
  },
  {
    where: "early timeout",
    what: "a value; an unwrapped handler",
    recorded: "the value, as if the handler had returned it",
    caller: "the value",
    retry: "the same",
    reports: false,
    answer: () => "timed out",
    state: "completed",
    reported: ["executed"],
    answers: ["timed out", "timed out"],
  },
  {
    where: "early timeout",
    what: "its own error; an unwrapped handler",
    recorded: "released, as for the handler's own error; left open once `signal` has aborted",
    caller: "the error",
    retry: "runs; in progress",
    reports: false,
    answer: ownError,
    state: "released",
    reported: ["released"],
    answers: ["timed out", "second"],
  },
];
