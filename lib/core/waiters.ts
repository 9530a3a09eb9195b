/**
 * How many calls wait for a winner at once. Each holds its caller, and on Lambda an environment, for as long as it waits:
 * beyond a ceiling a refusal at once is the better answer.
 */

/** By the store that they ask: what an environment has one of. */
const waiting = new WeakMap<object, number>();

/** Runs `wait` as one of at most `ceiling` waiters of a store; `undefined` at once where there are as many. */
export async function asWaiter<T>(
  store: object,
  ceiling: number,
  wait: () => Promise<T>,
): Promise<{ readonly waited: T } | undefined> {
  const others = waiting.get(store) ?? 0;
  if (others >= ceiling) return undefined;
  waiting.set(store, others + 1);
  try {
    return { waited: await wait() };
  } finally {
    waiting.set(store, waiting.get(store)! - 1);
  }
}
