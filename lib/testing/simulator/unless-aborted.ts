/** A caller that gave up hears so at once; what it asked for may still be done. */
export async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
  errorOf: (reason: unknown) => unknown,
): Promise<T> {
  if (signal === undefined) return work();
  if (signal.aborted) throw errorOf(signal.reason);
  return new Promise<T>((resolve, reject) => {
    const giveUp = () => reject(errorOf(signal.reason));
    signal.addEventListener("abort", giveUp, { once: true });
    work()
      .finally(() => signal.removeEventListener("abort", giveUp))
      .then(resolve, reject);
  });
}
