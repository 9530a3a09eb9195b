/** One run of a Middy stack under the protocol: what is recorded, whatever the hooks make of it. */
import type { RunningAttempt } from "../../core/attempt.ts";
import { nesting } from "../../core/nesting.ts";
import { withExecution } from "../context.ts";
import type { Run } from "../face.ts";
import { isEarlyTimeout, type MiddyRequest } from "./request.ts";
import { watchStack } from "./stack-watch.ts";

/** Work that may go on. The first end counts; then the answer comes. */
export interface OpenWork<Write> {
  readonly attempt: RunningAttempt<Write>;
  readonly finish: (value: unknown) => void;
  readonly fail: (error: unknown) => void;
  readonly answer: Promise<unknown>;
}

/** Resolves when the work may begin, or at once with somebody else's answer. */
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
  /** Unseen where nobody tells: it may run, or not. */
  #handler: "unseen" | "at work" | "over" = "unseen";
  #returned: { readonly value: unknown } | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** What the handler returned is recorded, and a hook threw afterwards. */
  #isResultKept = false;
  /** The handler may go on after the answer. */
  #isLeftOpen = false;
  #isEnded = false;

  /** Hands the execution to the handler. */
  constructor(request: MiddyRequest, work: OpenWork<Write>) {
    this.#work = work;
    request.context = withExecution(request.context, work.attempt);
    this.#watch = watchStack(request, {
      answersEarly: (answer) => (this.#failure ? this.endFailed(answer) : this.end(answer)),
      fails: (error) => this.#fails(error),
    });
  }

  /** Runs the handler of the stack, so that nothing has to be concluded from what Middy does. */
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

  /** The stack has a response. Resolves to the answer. */
  async end(response: unknown): Promise<unknown> {
    this.#stop();
    if (this.#handler === "at work") this.#leaveOpen(undefined);
    if (this.#isLeftOpen) return response;
    this.#work.finish(this.#isOfHandler() ? response : this.#returned?.value);
    return this.#work.answer;
  }

  /**
   * The stack threw, and `handled` is what an inner middleware made of it. Resolves to that, unless the record has
   * another answer.
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

  /** Decided at once: when an error hook throws, nobody asks us again. */
  #fails(error: unknown): void {
    this.#failure = { error };
    const { responses } = this.#watch;
    const mayBeAtWork = this.#handler === "unseen" && responses.length === 0 && isEarlyTimeout(error);
    if (this.#handler === "at work" || mayBeAtWork) {
      this.#leaveOpen(error);
    } else if (this.#returned || responses.length > 0) {
      // A later hook threw: to run the handler again would repeat its effect.
      this.#isResultKept = true;
      this.#work.finish(responses.length > 0 ? responses.at(-1) : this.#returned?.value);
    } else if (!this.#isLeftOpen) {
      this.#work.fail(error);
    }
  }

  /** Neither releases nor counts as done. */
  #leaveOpen(error: unknown): void {
    const { attempt } = this.#work;
    if (!this.#isLeftOpen) attempt.leaveOpen(error);
    if (this.#handler !== "at work") attempt.leaveLease();
    this.#isLeftOpen = true;
  }

  /** An early timeout can win over a handler that returns in the same moment. */
  #isOfHandler(): boolean {
    const { responses } = this.#watch;
    return !this.#returned || responses.length === 0 || Object.is(responses[0], this.#returned.value);
  }

  #stop(): void {
    this.#isEnded = true;
    this.#watch.stop();
  }
}
