/**
 * One run of a Middy stack under the protocol. Middy skips our after hook when an inner middleware answers
 * early, and does not say whether the handler ran when an inner hook throws. Both can be told from what it
 * assigns to the request: `response` with the handler's value, or with an early response; and when anything
 * throws, `response` again with `undefined`, then `error`.
 */
import { openFrame } from "../core/nesting.ts";
import type { Call } from "../core/operation.ts";
import { Interrupted } from "../core/running.ts";
import { withExecution } from "./context.ts";
import type { OpenWork } from "./deferred-work.ts";
import type { Exchange } from "./exchange.ts";
import { isEarlyTimeout, type MiddyRequest } from "./middy-request.ts";
import { watchProperty } from "./watch-property.ts";

export class MiddyRun<Write> {
  readonly #request: MiddyRequest;
  readonly #exchange: Exchange;
  readonly #work: OpenWork<Write>;
  readonly #frames: { leave(): void }[] = [];
  /** What was assigned to `response` since the handler may have run, until something threw. */
  readonly #responses: unknown[] = [];
  /** The context was read after the last response: to call the handler, or by a hook after it. */
  #readSinceResponse = false;
  #failure: { readonly error: unknown } | undefined;
  #ended = false;

  constructor(request: MiddyRequest, exchange: Exchange, work: OpenWork<Write>) {
    this.#request = request;
    this.#exchange = exchange;
    this.#work = work;
  }

  /** Hands the execution to the handler, and watches what becomes of it. */
  watch({ identity }: Call): void {
    const request = this.#request;
    request.context = withExecution(request.context, this.#work.execution);
    // Middy reads the context where it calls the handler: only there does a frame reach the handler, because
    // what an earlier hook sets in its own async context is gone by then.
    const enterFrame = () => {
      if (this.#ended) return;
      this.#readSinceResponse = true;
      const frame = openFrame();
      frame.enter(identity);
      this.#frames.push(frame);
    };
    watchProperty(request, "context", { read: enterFrame });
    watchProperty(request, "response", { assigned: (response) => this.#seeResponse(response) });
    watchProperty(request, "error", {
      assigned: (error) => {
        this.#failure ??= { error };
        return error;
      },
    });
  }

  #seeResponse(response: unknown): unknown {
    if (this.#ended) return response;
    if (Object.hasOwn(this.#request, "earlyResponse")) return this.#endEarly(response);
    // Before Middy has read the context, the handler cannot have run: a hook has prepared a response.
    if (this.#failure === undefined && this.#frames.length > 0) {
      this.#responses.push(response);
      if (this.#responses.length === 1 || response !== undefined) this.#readSinceResponse = false;
    }
    return response;
  }

  /** Middy returns the response from an async function, so a promise in its place is waited for. */
  async #endEarly(early: unknown): Promise<unknown> {
    const response = this.#failure === undefined ? await this.end(early) : await this.endFailed(early);
    this.#request.response = response;
    return response;
  }

  /** The stack has a response. Resolves to the answer. */
  async end(response: unknown): Promise<unknown> {
    this.#leave();
    try {
      return this.#exchange.answer(await this.#work.finish(response));
    } catch (error) {
      return this.#exchange.refuse(error);
    }
  }

  /**
   * The stack threw, and `handled` is what an inner middleware made of it. Resolves to that, unless the record
   * has another answer.
   */
  async endFailed(handled: unknown): Promise<unknown> {
    if (this.#ended) return handled;
    // The last one is the reset. With one before it the handler has returned, and it was a later hook that threw;
    // unless the context was read in between: then a hook may have prepared that response before the handler.
    const hasResponse = this.#responses.length > 1;
    if (hasResponse && !this.#readSinceResponse) {
      await this.end(this.#responses.at(-2)).catch(() => {});
      return handled;
    }
    this.#leave();
    const error = this.#failure?.error;
    const isUnclear = hasResponse || isEarlyTimeout(error);
    try {
      return this.#exchange.answer(await this.#work.fail(isUnclear ? new Interrupted(error) : error));
    } catch (thrown) {
      return this.#refuseUnless(error, thrown, handled);
    }
  }

  #refuseUnless(error: unknown, thrown: unknown, handled: unknown): unknown {
    try {
      return this.#exchange.refuse(thrown);
    } catch (refused) {
      if (refused === error) return handled;
      throw refused;
    }
  }

  #leave(): void {
    this.#ended = true;
    for (const frame of this.#frames) frame.leave();
  }
}
