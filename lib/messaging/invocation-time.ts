/** How long relay and sweeper take up further commits in one invocation. */

/** What they need of Lambda's context. */
export interface TimedContext {
  readonly getRemainingTimeInMillis?: () => number;
}

/** What is under way may have to wait for a request that times out and is tried again. */
const MAX_MARGIN_MS = 5000;

/** Answers whether there is time for more. A short invocation has a smaller margin, or it would never begin. */
export function timeOf(context: TimedContext | undefined): () => boolean {
  const remainingMs = () => context?.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY;
  const marginMs = Math.min(MAX_MARGIN_MS, remainingMs() / 5);
  return () => remainingMs() > marginMs;
}
