/**
 * Hears the course of a Middy stack. Middy calls no hook of ours when a later middleware answers early, nor when an error
 * hook throws. But Middy assigns to its request the value of the handler and the answer of an early hook. After a throw,
 * Middy assigns `undefined` to `response`, then the error.
 */
import { shared } from "../../core/copies.ts";
import type { MiddyRequest } from "./request.ts";

export interface StackWatch {
  /** What became the response since the handler can have run, until something threw: first what it returned. */
  readonly responses: readonly unknown[];
  /** The handler begins now: a response before it was a hook's, and Middy does not look at it. */
  readonly handlerBegins: () => void;
  readonly stop: () => void;
}

export interface StackListener {
  /** A hook answers early. Resolves to the answer, for which Middy waits. */
  readonly answersEarly: (answer: unknown) => Promise<unknown>;
  /** A hook or the handler threw. Error hooks come next, and whatever they do. */
  readonly fails: (error: unknown) => void;
}

/** Answers that are waited for, so that the watch of a middleware around this one knows them. */
const awaited = shared("awaited answers", () => new WeakSet<object>());

export function watchStack(request: MiddyRequest, listener: StackListener): StackWatch {
  const responses: unknown[] = [];
  let canHaveRun = false;
  let hasFailed = false;
  let isOver = false;
  let last: "event read" | "response reset" | undefined;

  function isEarly(response: unknown): boolean {
    if (!("earlyResponse" in request)) return false;
    return Object.is(request.earlyResponse, response) || awaited.has(response as object);
  }

  /** Middy returns the response from an async function, so a promise in its place is waited for. */
  function answerEarly(early: unknown): Promise<unknown> {
    const answer = listener.answersEarly(early).then((settled) => {
      request.response = settled;
      return settled;
    });
    awaited.add(answer);
    return answer;
  }

  function seeResponse(response: unknown): unknown {
    if (isOver) return response;
    last = response === undefined ? "response reset" : undefined;
    if (isEarly(response)) return answerEarly(response);
    if (canHaveRun && !hasFailed) responses.push(response);
    return response;
  }

  function seeError(error: unknown): unknown {
    const isThrown = last === "response reset" && !hasFailed && !isOver;
    last = undefined;
    if (isThrown) {
      hasFailed = true;
      responses.pop();
      listener.fails(error);
    }
    return error;
  }

  function seeEventRead(): void {
    last = "event read";
  }

  // Middy reads the event, then the context, where it calls the handler: before that it cannot have run.
  function seeContextRead(): void {
    canHaveRun ||= last === "event read";
    last = undefined;
  }

  function handlerBegins(): void {
    canHaveRun = true;
    responses.length = 0;
  }

  function stop(): void {
    isOver = true;
  }

  watchProperty(request, "event", (event) => event, seeEventRead);
  watchProperty(request, "context", (context) => context, seeContextRead);
  watchProperty(request, "response", seeResponse);
  watchProperty(request, "error", seeError);
  return { responses, handlerBegins, stop };
}

/**
 * Calls `onRead` for each read of `target[name]`, and keeps what `onAssign` makes of each value that is assigned.
 * A property that is there can be watched more than once.
 */
function watchProperty(
  target: object,
  name: string,
  onAssign: (value: unknown) => unknown,
  onRead = () => {},
): void {
  const former = Object.getOwnPropertyDescriptor(target, name);
  let kept: unknown = former?.value;
  Object.defineProperty(target, name, {
    get: () => {
      onRead();
      return former?.get ? former.get() : kept;
    },
    set: (value: unknown) => {
      kept = onAssign(value);
      former?.set?.(kept);
    },
  });
}
