// The queues that every message-sending commit sends to, and who consumes them.
import type { RunMode } from "../variants.ts";

export interface MessageQueue {
  readonly name: string;
  readonly isFifo: boolean;
  /** Its consumer's mode. */
  readonly mode: RunMode;
  /** Its consumer hides messages that are in progress elsewhere. */
  readonly hides: boolean;
}

export const MESSAGE_QUEUES: readonly MessageQueue[] = [
  { name: "standard", isFifo: false, mode: "claimed", hides: true },
  { name: "fifo", isFifo: true, mode: "claimed", hides: false },
  { name: "optimistic", isFifo: false, mode: "optimistic", hides: false },
];
