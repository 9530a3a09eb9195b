/** One run of a Middy stack under the protocol: decides what is recorded, independent of the hooks. */
import type { RunningAttempt } from "../../core/attempt.ts";
import { nesting } from "../../core/nesting.ts";
import type { Run } from "../adapter.ts";
import { withExecution } from "../context.ts";
import { isEarlyTimeout, type MiddyRequest } from "./request.ts";
import { watchStack } from "./stack-watch.ts";

/** Work that may continue. The first end counts; then `answer` settles. */
export interface OpenWork<Write> {
  readonly attempt: RunningAttempt<Write>;
  readonly finish: (value: unknown) => void;
  readonly fail: (error: unknown) => void;
  readonly answer: Promise<unknown>;
}

/** Returns the context with the attempt. */
export type PassOn<Write> = (context: unknown, attempt: RunningAttempt<Write>) => unknown;

/** Resolves when the work may begin, or immediately with another attempt's result. */
export function beginWork<Write>(run: Run<Write>): Promise<OpenWork<Write> | { readonly early: unknown }> {
  return new Promise((resolve, reject) => {
    const answer = run(
      (attempt) => new Promise((finish, fail) => resolve({ attempt, finish, fail, answer })),
    );
    answer.then((early) => resolve({ early }), reject);
  });
}

export class MiddyRun<Write> {
  readonly #work: OpenWork<Write>;
  readonly #watch;
  /** Unseen if the handler isn't wrapped: it may be running or not. */
  #handler: "unseen" | "at work" | "over" = "unseen";
  #returned: { readonly value: unknown } | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** The handler's result is recorded, and a hook threw afterwards. */
  #isResultKept = false;
  /** The handler may continue after the response. */
  #isLeftOpen = false;
  #isEnded = false;

  /** Passes the execution to the handler. */
  constructor(request: MiddyRequest, work: OpenWork<Write>, passOn: PassOn<Write> = withExecution) {
    this.#work = work;
    request.context = passOn(request.context, work.attempt);
    this.#watch = watchStack(request, {
      answersEarly: (answer) => (this.#failure ? this.endFailed(answer) : this.end(answer)),
      fails: (error) => this.#fails(error),
    });
  }

  /** Runs the stack's handler, so that its state needn't be inferred from Middy's behavior. */
  async handle<T>(handler: () => T | Promise<T>): Promise<T> {
    this.#watch.handlerBegins();
    this.#handler = "at work";
    try {
      const value = await nesting.runPart(this.#work.attempt, handler);
      this.#handler = "over";
      this.#returned = { value };
      if (this.#isLeftOpen) this.#work.finish(value);
      return value;
    } catch (error) {
      this.#handler = "over";
      if (isEarlyTimeout(error)) this.#leaveOpen(error);
      else this.#work.fail(error);
      // Recorded before any hook sees the error.
      if (!this.#isLeftOpen) await this.#work.answer.catch(() => {});
      throw error;
    }
  }

  /** The stack has a response. Resolves to the response to send. */
  async end(response: unknown): Promise<unknown> {
    this.#stop();
    if (this.#handler === "at work") this.#leaveOpen(undefined);
    if (this.#isLeftOpen) return response;
    this.#work.finish(this.#isOfHandler() ? response : this.#returned?.value);
    return this.#work.answer;
  }

  /**
   * The stack threw, and an inner middleware turned that into `handled`. Resolves to it, unless the record has another
   * result.
   */
  async endFailed(handled: unknown): Promise<unknown> {
    if (this.#isEnded) return handled;
    this.#stop();
    if (this.#isLeftOpen) return handled;
    try {
      const recorded = await this.#work.answer;
      return this.#isResultKept ? handled : recorded;
    } catch (error) {
      if (this.#isResultKept || error === this.#failure?.error) return handled;
      throw error;
    }
  }

  /** Decided immediately, because if an error hook throws, Middy doesn't call us again. */
  #fails(error: unknown): void {
    this.#failure = { error };
    const { responses } = this.#watch;
    const mayBeAtWork = this.#handler === "unseen" && responses.length === 0 && isEarlyTimeout(error);
    if (this.#handler === "at work" || mayBeAtWork) {
      this.#leaveOpen(error);
    } else if (this.#returned || responses.length > 0) {
      // A later hook threw: running the handler again would repeat its effect.
      this.#isResultKept = true;
      this.#work.finish(responses.length > 0 ? responses.at(-1) : this.#returned?.value);
    } else if (!this.#isLeftOpen) {
      this.#work.fail(error);
    }
  }

  /** Neither releases the claim nor completes it. */
  #leaveOpen(error: unknown): void {
    const { attempt } = this.#work;
    if (!this.#isLeftOpen) attempt.leaveOpen(error);
    if (this.#handler !== "at work") attempt.leaveLease();
    this.#isLeftOpen = true;
  }

  /** An early timeout can win over a handler that returns at the same moment. */
  #isOfHandler(): boolean {
    const { responses } = this.#watch;
    return !this.#returned || responses.length === 0 || Object.is(responses[0], this.#returned.value);
  }

  #stop(): void {
    this.#isEnded = true;
    this.#watch.stop();
  }
}
