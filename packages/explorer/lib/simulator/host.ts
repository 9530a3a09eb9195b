/**
 * One execution environment of a function: it runs, is frozen, or is gone. Its callbacks run in order, or not
 * at all.
 */
import type { SeededRandom } from "./seeded-random.ts";
import type { Trace } from "./trace.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface HostOptions {
  readonly id: string;
  /** Orders requests of several hosts at the same time. */
  readonly order: number;
  readonly skewMs: number;
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly random: SeededRandom;
}

export class Host {
  readonly id: string;
  readonly order: number;
  readonly skewMs: number;
  readonly time: VirtualTime;
  readonly random: SeededRandom;
  /** Request latencies; separate from `random`, so a handler's own draws don't change them. */
  readonly latency: SeededRandom;
  readonly startedAt: number;
  readonly #trace: Trace;
  #state: "running" | "frozen" | "dead" = "running";
  #thawsAt = 0;
  /** Frozen between invocations. */
  #isIdle = false;
  #held: (() => void)[] = [];
  #deathListeners: ((reason: string) => void)[] = [];

  constructor({ id, order, skewMs, time, trace, random }: HostOptions) {
    this.id = id;
    this.order = order;
    this.skewMs = skewMs;
    this.time = time;
    this.random = random.stream(`host ${id}`);
    this.latency = random.stream(`latency ${id}`);
    this.startedAt = time.now();
    this.#trace = trace;
  }

  get state(): "running" | "frozen" | "dead" {
    return this.#state;
  }

  /** Whether a fault freezes the host, independent of its invocation. */
  get isHeldByFault(): boolean {
    return this.#state === "frozen" && this.#thawsAt > this.time.now();
  }

  /** Runs the callback now, when the host thaws, or never. */
  deliver(work: () => void): void {
    if (this.#state === "running") work();
    else if (this.#state === "frozen") this.#held.push(work);
  }

  /** The invocation is over: the host is frozen until the next one. */
  rest(): void {
    this.#isIdle = true;
    if (this.#state === "running") this.#state = "frozen";
  }

  /** An invocation begins. */
  wake(): void {
    this.#isIdle = false;
    this.#thaw();
  }

  freezeFor(ms: number): void {
    if (this.#state === "dead") return;
    this.#state = "frozen";
    this.#thawsAt = Math.max(this.#thawsAt, this.time.now() + ms);
    this.note(`is frozen for ${ms} ms`);
    this.time.after(ms, () => {
      if (!this.isHeldByFault && !this.#isIdle) this.#thaw();
    });
  }

  /** Runs the callbacks that waited, one after the other, in their original order. */
  #thaw(): void {
    if (this.#state !== "frozen") return;
    this.#state = "running";
    const held = this.#held;
    this.#held = [];
    if (held.length > 0) this.note(`continues with ${held.length} held back`);
    for (const work of held) this.time.after(0, () => this.deliver(work));
  }

  /** Its requests get no more responses, and its timers never fire. */
  die(reason: string): void {
    if (this.#state === "dead") return;
    this.#state = "dead";
    this.#held = [];
    this.note(reason);
    const deathListeners = this.#deathListeners;
    this.#deathListeners = [];
    for (const listener of deathListeners) listener(reason);
  }

  /** Calls `listener` when the host dies, until the returned function is called. */
  onDeath(listener: (reason: string) => void): () => void {
    this.#deathListeners.push(listener);
    return () => {
      this.#deathListeners = this.#deathListeners.filter((each) => each !== listener);
    };
  }

  note(text: string): void {
    this.#trace.note({ kind: "host", hostId: this.id, invocation: undefined, text });
  }
}
