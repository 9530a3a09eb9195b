import { describe, expect, it } from "vitest";
import { createUndoList } from "../../lib/stack/undo-list.ts";

describe("createUndoList", () => {
  it("undoes in reverse order, once", async () => {
    const done: number[] = [];
    const undo = createUndoList();
    for (const step of [1, 2, 3]) undo.add(async () => void done.push(step));

    await Promise.all([undo.run(), undo.run()]);

    expect(done).toEqual([3, 2, 1]);
  });

  it("undoes the rest although one step fails, and reports the first failure", async () => {
    const done: number[] = [];
    const undo = createUndoList();
    undo.add(async () => void done.push(1));
    undo.add(() => Promise.reject(new Error("second")));
    undo.add(() => Promise.reject(new Error("third")));

    await expect(undo.run()).rejects.toThrow("third");

    expect(done).toEqual([1]);
  });
});
