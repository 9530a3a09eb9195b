// Lets a limited number of tasks in at the same time, first come, first served.

export interface Gate {
  shared<T>(task: () => Promise<T>): Promise<T>;
  /** Resolves when all tasks that wait now have been let in. */
  turn(): Promise<void>;
}

export function createGate(places: number): Gate {
  const waiting: (() => void)[] = [];
  let taken = 0;

  function letInWhoFits(): void {
    for (let first = waiting[0]; first && taken < places; first = waiting[0]) {
      waiting.shift();
      taken++;
      first();
    }
  }

  async function shared<T>(task: () => Promise<T>): Promise<T> {
    await new Promise<void>((letIn) => {
      waiting.push(letIn);
      letInWhoFits();
    });
    try {
      return await task();
    } finally {
      taken--;
      letInWhoFits();
    }
  }

  return { shared, turn: () => shared(async () => undefined) };
}
