// Lets a limited number of tasks run at the same time while the others wait, first come, first served.

export interface Slots {
  run<T>(task: () => Promise<T>): Promise<T>;
}

export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;

  return {
    async run(task) {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await task();
      } finally {
        const next = waiting.shift();
        // The slot is passed on directly, so a later task can't grab it first.
        if (next) next();
        else free++;
      }
    },
  };
}
