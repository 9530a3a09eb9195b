/** Aborts the work of one attempt while there is still time to answer. */
import type { Operation } from "./operation.ts";

export class Alarm<Write> {
  readonly #operation: Operation<Write>;
  /** Epoch ms. */
  readonly #at: number;
  #stopTimer: (() => void) | undefined;
  #isOver = false;
  #signal: AbortSignal | undefined;

  constructor(operation: Operation<Write>, since: number) {
    this.#operation = operation;
    this.#at = operation.workUntil(since);
  }

  /** Made when the handler asks for it: a signal and its timer cost more than the rest of an attempt. */
  get signal(): AbortSignal {
    this.#signal ??= this.#start();
    return this.#signal;
  }

  /** Whether the work may go on after its answer. */
  get isAborted(): boolean {
    // A timer can be late: after a freeze the clock knows first.
    return this.#signal?.aborted || this.#operation.now() >= this.#at;
  }

  stop(): void {
    this.#isOver = true;
    this.#stopTimer?.();
  }

  #start(): AbortSignal {
    const work = new AbortController();
    const abortWork = () => work.abort(new Error("the deadline of this attempt is near"));
    const ms = this.#at - this.#operation.now();
    if (ms <= 0) abortWork();
    if (ms <= 0 || ms === Number.POSITIVE_INFINITY || this.#isOver) return work.signal;
    const over = new AbortController();
    // With a reason, or a DOMException with its stack would be made on each run.
    this.#stopTimer = () => over.abort("over");
    void this.#operation.options.clock.sleep(ms, over.signal).then(() => {
      if (!over.signal.aborted) abortWork();
    });
    return work.signal;
  }
}
