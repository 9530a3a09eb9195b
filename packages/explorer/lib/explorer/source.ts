/** The source of an event: who redelivers it, when, and which answers count as success. */
import type { FakeClock } from "onceonly/testing";
import type { Invocation } from "../simulator/invocation.ts";
import type { SimulatedFunction } from "../simulator/simulated-function.ts";
import type { Simulator } from "../simulator/simulator.ts";
import { type Plain, plainDetail, plainOf } from "./plain-value.ts";

export const SOURCE_KINDS = ["http", "sqs", "stream", "invoke", "schedule", "durable"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** The result of one delivery in the source's view. */
export interface SourceAnswer {
  readonly isSuccess: boolean;
  /** The number of the invocation that answered. */
  readonly invocation: number;
  /** For the trace: "answer 201", "the function timed out". */
  readonly words: string;
  /** The HTTP status that the function's answer names. */
  readonly status?: number | undefined;
  /** Whether the answer names failed records that the source does not read. */
  readonly isUnread?: boolean | undefined;
  /** The part that a caller would compare with other answers; `undefined` when no caller gets an answer. */
  readonly content?: Plain;
  /** The reason of a failure, or the body of an answer. */
  readonly detail?: string | undefined;
  /** A promise that the answer itself broke, whatever the effects are. */
  readonly broken?: { readonly kind: "order" | "misreported"; readonly what: string } | undefined;
}

export interface SourceStage {
  readonly aws: Simulator;
  readonly fn: SimulatedFunction;
  readonly clock: FakeClock;
  /** An id that no other request has. */
  readonly newId: () => string;
  readonly event: unknown;
  /** Whether this run has a disturbance. */
  readonly isDisturbed: boolean;
  /** The minimum time for which the source continues, in ms of the clock. */
  readonly patienceMs: number;
  readonly visibilitySeconds: number;
  readonly reportsItemFailures: boolean;
  readonly expectedStatus?: number | undefined;
  /** Called after each delivery. */
  readonly note: (answer: SourceAnswer) => void;
}

export interface Source {
  readonly kind: SourceKind;
  /** "the client", for the trace. */
  readonly sender: string;
  /** Prepares the source before time counts. */
  prepare(stage: SourceStage): void | Promise<void>;
  /** Delivers the event, again and again until it succeeds or patience ends. */
  deliver(stage: SourceStage): Promise<void>;
  /** Delivers the last event once more, and returns the answer. */
  repeat(stage: SourceStage): Promise<SourceAnswer>;
}

/** The status in a function's result, for any kind of caller. */
export function statusIn(value: unknown): Pick<SourceAnswer, "status" | "detail"> {
  const status = statusCodeOf(value);
  return status === undefined ? {} : { status, detail: plainDetail(plainOf(value)) };
}

/** API Gateway accepts a status as a number and as its digits. */
export function statusCodeOf(value: unknown): number | undefined {
  const { statusCode } = Object(value) as { readonly statusCode?: unknown };
  if (typeof statusCode === "number") return statusCode;
  return typeof statusCode === "string" && /^[1-5]\d\d$/.test(statusCode) ? Number(statusCode) : undefined;
}

/** The message of a SagaCompensatedError, thrown or returned: the operation has ended, and no retry runs it. */
export function undoneIn(detail: string | undefined): string | undefined {
  return /\S+ failed at step \S+; the steps before it have been compensated/.exec(detail ?? "")?.[0];
}

/** The answer of an invocation that gave none, or that a saga has undone. */
export function failedAnswer(invocation: Invocation): SourceAnswer {
  const { number } = invocation;
  const detail = invocation.outcome === "threw" ? reasonOf(invocation.error) : undefined;
  const content = undoneIn(detail);
  // Without the cause, which no replay has.
  if (content)
    return { isSuccess: true, invocation: number, words: "everything is compensated", detail, content };
  return { isSuccess: false, invocation: number, words: failureWords(invocation), detail };
}

function failureWords(invocation: Invocation): string {
  switch (invocation.outcome) {
    case "returned":
      return "the function returned";
    case "threw":
      return `the function threw ${errorName(invocation.error)}`;
    case "timed-out":
      return "the function timed out";
    case "crashed":
      return "the function crashed";
  }
}

/** The message of an error, and of its causes. */
function reasonOf(error: unknown): string {
  const {
    message,
    cause,
    CancellationReasons: refusals,
  } = Object(error) as {
    readonly message?: unknown;
    readonly cause?: unknown;
    readonly CancellationReasons?: readonly { readonly Code?: string; readonly Message?: string }[];
  };
  const parts = (refusals ?? []).flatMap(({ Code, Message }) => (Message ? [`${Code}: ${Message}`] : []));
  const texts = [String(message ?? error), ...parts, ...(cause === undefined ? [] : [reasonOf(cause)])];
  return texts.join(" ← ");
}

function errorName(error: unknown): string {
  const { name, code } = Object(error) as { name?: unknown; code?: unknown };
  return String(code ?? name ?? "an error");
}
