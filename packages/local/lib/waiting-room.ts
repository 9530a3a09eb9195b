// Work that waits for its time, and can be called in before it.

export interface WaitingRoom {
  /** Does it after that time, or when the room is emptied. Never settles if the room is closed before. */
  after<T>(ms: number, work: () => Promise<T>): Promise<T>;
  /** Runs all waiting work now; resolves when everything that was started, now or before, is done. */
  empty(): Promise<void>;
  /** Drops all waiting work without running it. */
  close(): void;
}

export function createWaitingRoom(): WaitingRoom {
  const waiting = new Map<() => void, NodeJS.Timeout>();
  const working = new Set<Promise<unknown>>();

  function callIn(enter: () => void): void {
    clearTimeout(waiting.get(enter));
    if (waiting.delete(enter)) enter();
  }

  return {
    after(ms, work) {
      return new Promise((resolve) => {
        const enter = () => {
          const done = work();
          working.add(done);
          const leave = () => working.delete(done);
          done.then(leave, leave);
          resolve(done);
        };
        waiting.set(
          enter,
          setTimeout(() => callIn(enter), ms),
        );
      });
    },
    async empty() {
      for (const enter of [...waiting.keys()]) callIn(enter);
      await Promise.allSettled([...working]);
    },
    close() {
      for (const timeout of waiting.values()) clearTimeout(timeout);
      waiting.clear();
    },
  };
}
