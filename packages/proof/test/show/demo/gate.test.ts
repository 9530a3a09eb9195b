import { describe, expect, it } from "vitest";
import { createGate } from "../../../show/demo/gate.ts";

/** A task that runs until the test ends it. */
function heldTask(log: string[], name: string) {
  let end = () => {};
  const promise = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    end: () => end(),
    run: async () => {
      log.push(`${name} in`);
      await promise;
      log.push(`${name} out`);
    },
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("createGate", () => {
  it("lets in as many as it has places, first come, first served", async () => {
    const log: string[] = [];
    const gate = createGate(2);
    const a = heldTask(log, "a");
    const b = heldTask(log, "b");
    const c = heldTask(log, "c");
    const all = [a, b, c].map((task) => gate.shared(task.run));
    await settle();
    expect(log).toEqual(["a in", "b in"]);

    b.end();
    await settle();

    expect(log).toEqual(["a in", "b in", "b out", "c in"]);
    a.end();
    c.end();
    await Promise.all(all);
  });

  it("resolves when all waiting tasks have been let in", async () => {
    const log: string[] = [];
    const gate = createGate(1);
    const first = heldTask(log, "first");
    const second = heldTask(log, "second");
    const all = [gate.shared(first.run), gate.shared(second.run)];
    const turn = gate.turn().then(() => log.push("turn"));
    first.end();
    await settle();
    expect(log).toEqual(["first in", "first out", "second in"]);

    second.end();
    await Promise.all([turn, ...all]);

    expect(log.at(-1)).toBe("turn");
  });

  it("gives a place back when a task fails", async () => {
    const gate = createGate(1);

    await expect(gate.shared(() => Promise.reject(new Error("failed")))).rejects.toThrow("failed");

    await expect(gate.shared(async () => "next")).resolves.toBe("next");
  });
});
