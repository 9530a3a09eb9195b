// Lets so many tasks in at once, first come, first served; a task that must be alone waits until all others are out.

export interface Gate {
  shared<T>(task: () => Promise<T>): Promise<T>;
  alone<T>(task: () => Promise<T>): Promise<T>;
  /** Resolves when everybody who waits now has been let in. */
  turn(): Promise<void>;
}

export function createGate(places: number): Gate {
  const waiting: { readonly needs: number; readonly letIn: () => void }[] = [];
  let taken = 0;

  function letInWhoFits(): void {
    for (let first = waiting[0]; first && taken + first.needs <= places; first = waiting[0]) {
      waiting.shift();
      taken += first.needs;
      first.letIn();
    }
  }

  async function enter<T>(needs: number, task: () => Promise<T>): Promise<T> {
    await new Promise<void>((letIn) => {
      waiting.push({ needs, letIn });
      letInWhoFits();
    });
    try {
      return await task();
    } finally {
      taken -= needs;
      letInWhoFits();
    }
  }

  return {
    shared: (task) => enter(1, task),
    alone: (task) => enter(places, task),
    turn: () => enter(1, async () => undefined),
  };
}
