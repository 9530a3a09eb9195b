/** Waits for Ctrl-C, or another wish that this process ends. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** @param onSignal called with each signal, also with those that come later */
export function untilStopped(onSignal: (signal: string) => void = () => undefined): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        onSignal(signal);
        resolve();
      });
    }
  });
}
