// Files that share a process leave it as they found it. Otherwise another file fails, and only in some orders.
import { afterAll, expect } from "vitest";

const state = () => ({
  environment: { ...process.env },
  functions: {
    Date,
    now: Date.now,
    performanceNow: performance.now,
    hrtime: process.hrtime,
    random: Math.random,
    setTimeout,
    setInterval,
    setImmediate,
    queueMicrotask,
  },
});

/** Taken before the file is imported, which may replace something too. */
const before = state();

afterAll(() => {
  const { environment, functions } = state();
  const replaced = Object.entries(before.functions).filter(
    ([name, value]) => functions[name as keyof typeof functions] !== value,
  );
  expect(
    replaced.map(([name]) => name),
    "replaced and not put back",
  ).toEqual([]);
  expect(environment, "environment variables").toEqual(before.environment);
});
