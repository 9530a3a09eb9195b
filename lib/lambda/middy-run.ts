/**
 * One run of a Middy stack under the protocol. Middy skips our after hook when an inner middleware answers
 * early, and does not say whether the handler ran when an inner hook throws. Both can be told from what it
 * assigns to the request: `response` with the handler's value, or with an early response; and when anything
 * throws, `response` again with `undefined`, then `error`.
 */
import { openFrame } from "../core/nesting.ts";
import { Interrupted } from "../core/running.ts";
import { withExecution } from "./context.ts";
import type { OpenWork } from "./deferred-work.ts";
import { isEarlyTimeout, type MiddyRequest } from "./middy-request.ts";
import { watchProperty } from "./watch-property.ts";

export interface MiddyRun {
  /** The stack has a response. Resolves to the answer. */
  readonly end: (response: unknown) => Promise<unknown>;
  /**
   * The stack threw, and `handled` is what an inner middleware made of it. Resolves to that, unless the record
   * has another answer.
   */
  readonly endFailed: (handled: unknown) => Promise<unknown>;
}

/** Hands the execution to the handler, and watches what becomes of it. */
export function watchRun<Write>(request: MiddyRequest, work: OpenWork<Write>): MiddyRun {
  const frames: { leave(): void }[] = [];
  /** What was assigned to `response` since the handler may have run, until something threw. */
  const responses: unknown[] = [];
  /** The context was read after the last response: to call the handler, or by a hook after it. */
  let isReadSinceResponse = false;
  let failure: { readonly error: unknown } | undefined;
  let isEnded = false;

  // Middy reads the context where it calls the handler: only there does a frame reach the handler, because
  // what an earlier hook sets in its own async context is gone by then.
  function enterFrame(): void {
    if (isEnded) return;
    isReadSinceResponse = true;
    const frame = openFrame();
    frame.enter(work.identity);
    frames.push(frame);
  }

  function seeResponse(response: unknown): unknown {
    if (isEnded) return response;
    if ("earlyResponse" in request) return endEarly(response);
    // Before Middy has read the context, the handler cannot have run: a hook has prepared a response.
    if (!failure && frames.length > 0) {
      if (responses.length === 0 || response !== undefined) isReadSinceResponse = false;
      responses.push(response);
    }
    return response;
  }

  /** Middy returns the response from an async function, so a promise in its place is waited for. */
  async function endEarly(early: unknown): Promise<unknown> {
    const response = await (failure ? endFailed(early) : end(early));
    request.response = response;
    return response;
  }

  function leaveFrames(): void {
    isEnded = true;
    for (const frame of frames) frame.leave();
  }

  async function end(response: unknown): Promise<unknown> {
    leaveFrames();
    work.finish(response);
    return work.answer;
  }

  async function endFailed(handled: unknown): Promise<unknown> {
    if (isEnded) return handled;
    // The last one is the reset. With one before it the handler has returned, and it was a later hook that threw;
    // unless the context was read in between: then a hook may have prepared that response before the handler.
    const hasResponse = responses.length > 1;
    if (hasResponse && !isReadSinceResponse) {
      await end(responses.at(-2)).catch(() => {});
      return handled;
    }
    leaveFrames();
    const error = failure?.error;
    work.fail(hasResponse || isEarlyTimeout(error) ? new Interrupted(error) : error);
    try {
      return await work.answer;
    } catch (thrown) {
      if (thrown === error) return handled;
      throw thrown;
    }
  }

  request.context = withExecution(request.context, work.execution);
  watchProperty(request, "context", (context) => context, enterFrame);
  watchProperty(request, "response", seeResponse);
  watchProperty(request, "error", (error) => {
    failure ??= { error };
    return error;
  });
  return { end, endFailed };
}
