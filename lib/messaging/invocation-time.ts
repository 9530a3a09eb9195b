/** How the time of an invocation is shared out: what is begun must come to its end, and be kept, within it. */
import type { Clock, Random } from "../core/clock.ts";
import type { Taking } from "../core/messages/outbox.ts";

/** What relay and sweeper need of Lambda's context. */
export interface TimedContext {
  readonly getRemainingTimeInMillis?: () => number;
}

export interface InvocationTime {
  /** Whether there is time for one more request to a destination, and to keep how it ended. */
  readonly hasMore: () => boolean;
  /** How long such a request may take. */
  readonly requestTimeoutMs: number;
  /** How this invocation takes a commit now. */
  readonly taking: () => Pick<Taking, "id" | "now" | "until">;
}

/** For the end: a request that hangs, and then the write that keeps what was sent. */
const MAX_MARGIN_MS = 6000;
const MAX_REQUEST_MS = 4000;

/** How far clocks of two hosts may differ. */
const SKEW_MS = 5000;

/** Where nobody says how long an invocation may last. */
const UNKNOWN_MS = 300_000;

/** A short invocation has smaller shares, or it would never begin. */
export function timeOf(
  context: TimedContext | undefined,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): InvocationTime {
  const remainingMs = () => context?.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY;
  const atFirst = remainingMs();
  const id = random.token();
  const marginMs = Math.min(MAX_MARGIN_MS, atFirst / 4);
  return {
    hasMore: () => remainingMs() > marginMs,
    requestTimeoutMs: Math.min(MAX_REQUEST_MS, atFirst / 6),
    taking() {
      const now = clock.now();
      return { id, now, until: Math.ceil(now + Math.min(UNKNOWN_MS, remainingMs()) + SKEW_MS) };
    },
  };
}
