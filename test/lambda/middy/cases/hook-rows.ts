// What each position of a hook does, for the tests that show it and for the table in docs/use/middy.md.
import type middy6 from "@middy/core";
import { PermanentError } from "onceonly";

type Hook = NonNullable<middy6.MiddlewareObj["before"]>;

/** As the document says it. */
export interface Row {
  readonly where: string;
  readonly what: string;
  readonly recorded: string;
  readonly caller: string;
  readonly retry: string;
}

export interface HookRow extends Row {
  /** Middlewares used before ours, and after it. Their hooks do this on the first call only. */
  readonly outer?: middy6.MiddlewareObj;
  readonly inner?: middy6.MiddlewareObj;
  /** What the handler does on the first call; later it returns "done". */
  readonly handle?: () => unknown;
  readonly state: "completed" | "failed" | "released" | "none";
  readonly told: readonly string[];
  /** The first answer, and that of a retry; errors by their message. */
  readonly answers: readonly [first: unknown, retry: unknown];
  /** Middy answers without waiting for the request that records it: always, or where the handler does not tell. */
  readonly unawaited?: "always" | "untold";
  /** How often the handler runs for the first call, with a retry at once, and with one more after the lease. */
  readonly runs: readonly [number, number, number];
}

const NOT_STORED = "not stored";
/** The `shouldStore` of the rows. */
export const isStored = (result: unknown) => result !== NOT_STORED;

const throwing = (error: unknown): Hook => {
  return () => {
    throw error;
  };
};
const answering = (answer: unknown): Hook => {
  return async () => answer;
};
const responding = (response: unknown): Hook => {
  return (request) => {
    request.response = response;
  };
};
const returning = (value: unknown) => () => value;
const failing = (error: unknown) => () => {
  throw error;
};
const broken = new Error("broken");
const worse = new Error("worse");
const final = new PermanentError("final");

const once = { runs: [1, 1, 1] } as const;
const again = { runs: [1, 2, 2] } as const;
const handled = { state: "released", told: ["released"], handle: failing(broken), ...again } as const;
const finallyHandled = { state: "failed", told: ["executed"], handle: failing(final), ...once } as const;
const kept = {
  recorded: "the response as it was then",
  retry: "that response",
  handle: returning("raw"),
  state: "completed",
  told: ["executed"],
  ...once,
} as const;
const untouched = { recorded: "nothing", retry: "runs", state: "none", told: [], runs: [0, 1, 1] } as const;

export const HOOK_ROWS: readonly HookRow[] = [
  {
    where: "handler",
    what: "returns",
    recorded: "the response, as our `after` finds it",
    caller: "that response",
    retry: "the same",
    inner: { after: responding("shaped") },
    handle: returning("raw"),
    state: "completed",
    told: ["executed"],
    answers: ["shaped", "shaped"],
    ...once,
  },
  {
    where: "handler",
    what: "throws",
    recorded: "released",
    caller: "the error",
    retry: "runs",
    answers: ["broken", "done"],
    ...handled,
  },
  {
    where: "handler",
    what: "throws a final error",
    recorded: "the error",
    caller: "the error",
    retry: "the error",
    answers: ["final", "final"],
    ...finallyHandled,
  },
  {
    where: "`before`, inner",
    what: "throws",
    recorded: "released",
    caller: "the error",
    retry: "runs",
    inner: { before: throwing(broken) },
    state: "released",
    told: ["released"],
    answers: ["broken", "done"],
    runs: [0, 1, 1],
  },
  {
    where: "`before`, inner",
    what: "throws a final error",
    recorded: "the error",
    caller: "the error",
    retry: "the error",
    inner: { before: throwing(final) },
    state: "failed",
    told: ["executed"],
    answers: ["final", "final"],
    runs: [0, 0, 0],
  },
  {
    where: "`before`, inner",
    what: "answers early",
    recorded: "its answer",
    caller: "its answer",
    retry: "the same",
    inner: { before: answering("early") },
    state: "completed",
    told: ["executed"],
    answers: ["early", "early"],
    runs: [0, 0, 0],
  },
  {
    where: "`before`, inner",
    what: "answers early with what `shouldStore` refuses",
    recorded: "released",
    caller: "its answer",
    retry: "runs",
    inner: { before: answering(NOT_STORED) },
    state: "released",
    told: ["released"],
    answers: [NOT_STORED, "done"],
    runs: [0, 1, 1],
  },
  {
    where: "`before`, inner",
    what: "only sets `request.response`",
    recorded: "the handler's response",
    caller: "that response",
    retry: "the same",
    inner: { before: responding("prepared") },
    handle: returning("raw"),
    state: "completed",
    told: ["executed"],
    answers: ["raw", "raw"],
    ...once,
  },
  {
    where: "`after`, inner",
    what: "throws",
    caller: "the error",
    inner: { after: throwing(broken) },
    answers: ["broken", "raw"],
    ...kept,
  },
  {
    where: "`after`, inner",
    what: "throws a final error",
    caller: "the error",
    inner: { after: throwing(final) },
    answers: ["final", "raw"],
    ...kept,
  },
  {
    where: "`after`, inner",
    what: "throws over what `shouldStore` refuses",
    recorded: "released",
    caller: "the error",
    retry: "runs",
    inner: { after: throwing(broken) },
    handle: returning(NOT_STORED),
    state: "released",
    told: ["released"],
    answers: ["broken", "done"],
    ...again,
  },
  {
    where: "`after`, inner",
    what: "answers early",
    recorded: "its answer",
    caller: "its answer",
    retry: "the same",
    inner: { after: answering("early") },
    handle: returning("raw"),
    state: "completed",
    told: ["executed"],
    answers: ["early", "early"],
    ...once,
  },
  {
    where: "`after`, inner",
    what: "throws, and an inner `onError` sets a response",
    caller: "the response of `onError`",
    inner: { after: throwing(broken), onError: responding("handled") },
    answers: ["handled", "raw"],
    ...kept,
  },
  {
    where: "`after`, inner",
    what: "throws, and an inner `onError` answers early",
    caller: "the answer of `onError`",
    inner: { after: throwing(broken), onError: answering("handled") },
    answers: ["handled", "raw"],
    ...kept,
  },
  {
    where: "`after`, inner",
    what: "throws, and an inner `onError` throws too",
    caller: "the error of `onError`",
    inner: { after: throwing(broken), onError: throwing(worse) },
    unawaited: "always",
    answers: ["worse", "raw"],
    ...kept,
  },
  {
    where: "`onError`, inner",
    what: "sets a response",
    recorded: "released: as without it",
    caller: "its response",
    retry: "runs",
    inner: { onError: responding("handled") },
    answers: ["handled", "done"],
    ...handled,
  },
  {
    where: "`onError`, inner",
    what: "answers early",
    recorded: "released: as without it",
    caller: "its answer",
    retry: "runs",
    inner: { onError: answering("handled") },
    answers: ["handled", "done"],
    ...handled,
  },
  {
    where: "`onError`, inner",
    what: "throws",
    recorded: "released: as without it",
    caller: "its error",
    retry: "runs",
    inner: { onError: throwing(worse) },
    unawaited: "untold",
    answers: ["worse", "done"],
    ...handled,
  },
  {
    where: "`onError`, inner",
    what: "sets a response for a final error",
    recorded: "the final error",
    caller: "its response",
    retry: "the final error",
    inner: { onError: responding("handled") },
    answers: ["handled", "final"],
    ...finallyHandled,
  },
  {
    where: "`onError`, inner",
    what: "answers a final error early",
    recorded: "the final error",
    caller: "its answer",
    retry: "the final error",
    inner: { onError: answering("handled") },
    answers: ["handled", "final"],
    ...finallyHandled,
  },
  {
    where: "`onError`, inner",
    what: "throws over a final error",
    recorded: "the final error",
    caller: "its error",
    retry: "the final error",
    inner: { onError: throwing(worse) },
    unawaited: "untold",
    answers: ["worse", "final"],
    ...finallyHandled,
  },
  {
    where: "`before`, outer",
    what: "throws",
    caller: "the error",
    outer: { before: throwing(broken) },
    answers: ["broken", "done"],
    ...untouched,
  },
  {
    where: "`before`, outer",
    what: "answers early",
    caller: "its answer",
    outer: { before: answering("early") },
    answers: ["early", "done"],
    ...untouched,
  },
  {
    where: "`after`, outer",
    what: "throws",
    caller: "the error",
    outer: { after: throwing(broken) },
    answers: ["broken", "raw"],
    ...kept,
    recorded: "the response: it is there already",
  },
  {
    where: "`after`, outer",
    what: "answers early",
    caller: "its answer",
    outer: { after: answering("early") },
    answers: ["early", "raw"],
    ...kept,
    recorded: "the response: it is there already",
  },
  {
    where: "`onError`, outer",
    what: "sets a response",
    recorded: "released: as without it",
    caller: "its response",
    retry: "runs",
    outer: { onError: responding("handled") },
    answers: ["handled", "done"],
    ...handled,
  },
  {
    where: "`onError`, outer",
    what: "answers early",
    recorded: "released: as without it",
    caller: "its answer",
    retry: "runs",
    outer: { onError: answering("handled") },
    answers: ["handled", "done"],
    ...handled,
  },
  {
    where: "`onError`, outer",
    what: "throws over a final error",
    recorded: "the final error",
    caller: "its error",
    retry: "the final error",
    outer: { onError: throwing(worse) },
    answers: ["worse", "final"],
    ...finallyHandled,
  },
];

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
