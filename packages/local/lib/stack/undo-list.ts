// Undoes things when a run ends: in reverse order, each even if another one fails, and each only once.

export interface UndoList {
  add(undo: () => Promise<void>): void;
  /** @throws the first failure, after everything was tried */
  run(): Promise<void>;
}

export function createUndoList(): UndoList {
  const undos: (() => Promise<void>)[] = [];
  let running: Promise<void> | undefined;

  async function undoAll(): Promise<void> {
    const failures: unknown[] = [];
    for (let undo = undos.pop(); undo; undo = undos.pop()) {
      await undo().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  return {
    add: (undo) => undos.push(undo),
    run: () => {
      running ??= undoAll();
      return running;
    },
  };
}
