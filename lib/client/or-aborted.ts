/** Settles like `work`, or rejects with the signal's reason as soon as it aborts, even if `work` continues. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const rejectWithReason = () => reject(signal?.reason);
    if (signal?.aborted) rejectWithReason();
    signal?.addEventListener("abort", rejectWithReason);
    const stopListening = () => signal?.removeEventListener("abort", rejectWithReason);
    work.then(resolve, reject).then(stopListening, stopListening);
  });
}
