/** Detects an operation that starts inside itself with the same key: it would wait for itself. */
import { AsyncLocalStorage } from "node:async_hooks";
import { shared } from "./copies.ts";
import { NestedExecutionError } from "./errors.ts";
import type { Identity } from "./identity.ts";

/** The execution in which a call starts. */
interface Start {
  readonly identity: Identity;
  /** The execution of the code that starts the call, if passed on. */
  readonly within?: unknown;
}

interface Frame {
  readonly around: readonly Frame[];
  /** `undefined` when the work is over. */
  recordKey: string | undefined;
}

const NONE: readonly Frame[] = [];

export class Nesting {
  readonly #frames: WeakMap<object, Frame>;
  readonly #current: AsyncLocalStorage<Frame> | undefined;

  /** @param current the async context, as another way to find the outer execution */
  constructor(current: AsyncLocalStorage<Frame> | undefined, frames = new WeakMap<object, Frame>()) {
    this.#current = current;
    this.#frames = frames;
  }

  /** @throws NestedExecutionError (`NESTED_EXECUTION`) */
  refuse({ identity, within }: Start): void {
    if (this.#around(within).some(({ recordKey }) => recordKey === identity.recordKey))
      throw new NestedExecutionError(identity.operation);
  }

  /** Runs `work` as that of `execution`, until its `end`. */
  run<T>(execution: object, { identity, within }: Start, work: () => T): T {
    this.#frames.set(execution, { around: this.#around(within), recordKey: identity.recordKey });
    return this.runPart(execution, work);
  }

  /** For work of `execution` that begins elsewhere, such as in a framework's callback. */
  runPart<T>(execution: object, part: () => T): T {
    const frame = this.#frames.get(execution);
    return frame && this.#current ? this.#current.run(frame, part) : part();
  }

  /** Anything that `execution` still does or leaves behind, such as a connection, no longer counts as part of it. */
  end(execution: object): void {
    const frame = this.#frames.get(execution);
    if (!frame) return;
    frame.recordKey = undefined;
    // Otherwise the map grows until the next large collection, which makes each small one more expensive.
    this.#frames.delete(execution);
  }

  #around(within: unknown): readonly Frame[] {
    const given = this.#frames.get(within as object);
    const current = this.#current?.getStore();
    if (!given && !current) return NONE;
    return [...new Set([given, current].flatMap((frame) => (frame ? [frame, ...frame.around] : NONE)))];
  }
}

/**
 * Absent before Node 24, because there each promise in the process is slower once a store was entered.
 * https://nodejs.org/api/async_context.html
 */
export function asyncContext<T>(nodeVersion: string): AsyncLocalStorage<T> | undefined {
  return Number.parseInt(nodeVersion, 10) >= 24 ? new AsyncLocalStorage<T>() : undefined;
}

const ofAllCopies = shared("nesting", () => ({
  current: asyncContext<Frame>(process.versions.node),
  frames: new WeakMap<object, Frame>(),
}));

export const nesting = new Nesting(ofAllCopies.current, ofAllCopies.frames);
