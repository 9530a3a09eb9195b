/** Notices an operation that starts inside itself with the same key: it would wait for itself. */
import { AsyncLocalStorage } from "node:async_hooks";
import { NestedExecutionError } from "./errors.ts";
import type { Identity } from "./identity.ts";

interface Frame {
  readonly outer: Frame | undefined;
  recordKey: string | undefined;
}

const frames = new AsyncLocalStorage<Frame>();

/** @throws NestedExecutionError (`NESTED_EXECUTION`) */
export function refuseNested(identity: Identity): void {
  for (let frame = frames.getStore(); frame !== undefined; frame = frame.outer) {
    if (frame.recordKey === identity.recordKey) throw new NestedExecutionError(identity.operation);
  }
}

/** Runs `inner` as part of the operation. What it leaves behind, such as a connection, is no part of it later. */
export async function runInside<T>(identity: Identity, inner: () => Promise<T>): Promise<T> {
  const frame: Frame = { outer: frames.getStore(), recordKey: identity.recordKey };
  try {
    return await frames.run(frame, inner);
  } finally {
    frame.recordKey = undefined;
  }
}

/**
 * For callers that cannot wrap what runs (middleware): marks everything that follows in the calling async
 * context, from `enter` until `leave`. Must be opened before the caller's first `await`.
 */
export function openFrame(): { enter(identity: Identity): void; leave(): void } {
  const frame: Frame = { outer: frames.getStore(), recordKey: undefined };
  frames.enterWith(frame);
  return {
    enter: (identity) => {
      frame.recordKey = identity.recordKey;
    },
    leave: () => {
      frame.recordKey = undefined;
    },
  };
}
