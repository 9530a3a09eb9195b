// Files that share a process leave it as they found it. Otherwise another file fails, and only in some orders.
import { afterAll, expect } from "vitest";

const state = () => ({
  environment: { ...process.env },
  objects: {
    Date,
    now: Date.now,
    performanceNow: performance.now,
    hrtime: process.hrtime,
    random: Math.random,
    setTimeout,
    setInterval,
    setImmediate,
    queueMicrotask,
    // Another object here is not the one that `vi.stubEnv` takes its variables from again.
    environment: process.env,
  },
});

/** Taken before the file is imported, which may replace something too. */
const before = state();

afterAll(() => {
  const { environment, objects } = state();
  const replaced = Object.entries(before.objects).filter(
    ([name, value]) => objects[name as keyof typeof objects] !== value,
  );
  expect(
    replaced.map(([name]) => name),
    "replaced and not put back",
  ).toEqual([]);
  expect(environment, "environment variables").toEqual(before.environment);
});
