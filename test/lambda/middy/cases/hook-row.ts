// What a row of a hook says, and what rows have in common: acts of hooks and of handlers, and how a call ends.
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
  readonly reported: readonly string[];
  /** The first answer, and that of a retry; errors by their message. */
  readonly answers: readonly [first: unknown, retry: unknown];
  /** Middy answers without waiting for the request that records it: always, or if the handler does not report. */
  readonly unawaited?: "always" | "untold";
  /** How often the handler runs for the first call, with a retry at once, and with one more after the lease. */
  readonly runs: readonly [number, number, number];
}

export const NOT_STORED = "not stored";
/** The `shouldStore` of the rows. */
export const isStored = (result: unknown) => result !== NOT_STORED;

export const throwing = (error: unknown): Hook => {
  return () => {
    throw error;
  };
};
export const answering = (answer: unknown): Hook => {
  return async () => answer;
};
export const responding = (response: unknown): Hook => {
  return (request) => {
    request.response = response;
  };
};
export const returning = (value: unknown) => () => value;
const failing = (error: unknown) => () => {
  throw error;
};
export const broken = new Error("broken");
export const worse = new Error("worse");
export const final = new PermanentError("final");

export const once = { runs: [1, 1, 1] } as const;
export const again = { runs: [1, 2, 2] } as const;
export const handled = {
  state: "released",
  reported: ["released"],
  handle: failing(broken),
  ...again,
} as const;
export const finallyHandled = {
  state: "failed",
  reported: ["executed"],
  handle: failing(final),
  ...once,
} as const;
export const kept = {
  recorded: "the response as it was then",
  retry: "that response",
  handle: returning("raw"),
  state: "completed",
  reported: ["executed"],
  ...once,
} as const;
export const untouched = {
  recorded: "nothing",
  retry: "runs",
  state: "none",
  reported: [],
  runs: [0, 1, 1],
} as const;
