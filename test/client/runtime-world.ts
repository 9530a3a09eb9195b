// Time that only moves when the client waits, so that no test sleeps.

import { DEFAULTS, type IdempotentFetchInit } from "../../lib/client/options.ts";
import type { ClientRuntime } from "../../lib/client/runtime.ts";
import { sendUntilAnswered } from "../../lib/client/send.ts";

export const START = Date.UTC(2026, 2, 1, 12, 0, 0);

export class FakeRuntime implements ClientRuntime {
  nowMs = START;
  fraction = 0.5;
  /** Every wait so far, in milliseconds. */
  readonly waits: number[] = [];
  /** Every timer so far, in milliseconds. */
  readonly timers: number[] = [];
  /** Runs at the start of each wait. */
  onSleep: () => void = () => {};
  #running: { ms: number; onEnd: () => void } | undefined;
  #bytes = 0;

  now(): number {
    return this.nowMs;
  }

  random(): number {
    return this.fraction;
  }

  randomBytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.#bytes++ % 256);
  }

  async sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    this.waits.push(ms);
    this.onSleep();
    signal?.throwIfAborted();
    this.nowMs += ms;
  }

  startTimer(ms: number, onEnd: () => void): () => void {
    this.timers.push(ms);
    this.#running = { ms, onEnd };
    return () => {
      this.#running = undefined;
    };
  }

  get hasRunningTimer(): boolean {
    return this.#running !== undefined;
  }

  /** Lets the running try time out. */
  endTimer(): void {
    const { ms, onEnd } = this.#running!;
    this.nowMs += ms;
    onEnd();
  }

  fetch(input: string | URL | Request, init: IdempotentFetchInit = {}): Promise<Response> {
    return sendUntilAnswered(this, DEFAULTS, input, init);
  }
}
