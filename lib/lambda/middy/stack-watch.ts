/**
 * Observes a Middy stack. Middy calls none of our hooks when a later middleware responds early, or when an error hook
 * throws. But it assigns the handler's value and an early hook's response to its request. After a throw, it assigns
 * `undefined` to `response`, then the error.
 */
import { shared } from "../../core/copies.ts";
import type { MiddyRequest } from "./request.ts";

export interface StackWatch {
  /** The responses assigned after the handler may have run, until something threw: first its return value. */
  readonly responses: readonly unknown[];
  /** The handler begins now: an earlier response came from a hook, and Middy ignores it. */
  readonly handlerBegins: () => void;
  readonly stop: () => void;
}

export interface StackListener {
  /** A hook responds early. Resolves to the response, for which Middy waits. */
  readonly answersEarly: (answer: unknown) => Promise<unknown>;
  /** A hook or the handler threw. Error hooks run next, whatever they do. */
  readonly fails: (error: unknown) => void;
}

/** Pending early responses, so that an outer middleware's watch recognizes them. */
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

  /** Middy returns the response from an async function, so it awaits a promise assigned to it. */
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

  // Middy reads the event, then the context, when it calls the handler: before that, it can't have run.
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
 * Calls `onRead` for each read of `target[name]`, and stores the result of `onAssign` for each assigned value. An
 * existing property can be watched more than once.
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
