import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Clock, startTimer, systemClock, systemRandom } from "../../lib/core/clock.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 1_700_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("systemClock", () => {
  it("reports the time in epoch milliseconds", () => {
    expect(systemClock.now()).toBe(1_700_000_000_000);
  });

  it("sleeps as long as requested", async () => {
    let isAwake = false;
    const sleep = systemClock.sleep(100).then(() => {
      isAwake = true;
    });

    await vi.advanceTimersByTimeAsync(99);
    expect(isAwake).toBe(false);
    await vi.advanceTimersByTimeAsync(1);

    await sleep;
    expect(isAwake).toBe(true);
  });

  it("wakes as soon as the signal aborts, and leaves no timer", async () => {
    const controller = new AbortController();
    const sleep = systemClock.sleep(100, controller.signal);

    controller.abort();

    await sleep;
    expect(vi.getTimerCount()).toBe(0);
  });

  it("leaves no listener on a signal that outlives the sleep", async () => {
    const { signal } = new AbortController();
    const sleep = systemClock.sleep(100, signal);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);

    await vi.advanceTimersByTimeAsync(100);

    await sleep;
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("sleeps as long as a timer can when asked to sleep for longer, and doesn't wake immediately", async () => {
    let isAwake = false;
    void systemClock.sleep(2 ** 32).then(() => {
      isAwake = true;
    });

    await vi.advanceTimersByTimeAsync(2 ** 31 - 2);
    expect(isAwake).toBe(false);
    await vi.advanceTimersByTimeAsync(1);

    expect(isAwake).toBe(true);
  });

  it("does not fall asleep when the signal is aborted already", async () => {
    await systemClock.sleep(100, AbortSignal.abort());

    expect(vi.getTimerCount()).toBe(0);
  });
});

it("a sleep or a timer keeps the process alive, unless it is in the background", () => {
  vi.useRealTimers();
  const set = vi.spyOn(globalThis, "setTimeout");

  void systemClock.sleep(100);
  void systemClock.sleep(100, undefined, "background");
  startTimer(systemClock, 100, () => {});
  startTimer(systemClock, 100, () => {}, "background");
  const timers = set.mock.results.map(({ value }) => value as NodeJS.Timeout);
  set.mockRestore();

  expect(timers.map((timer) => timer.hasRef())).toEqual([true, false, true, false]);
  timers.forEach(clearTimeout);
});

describe("systemRandom", () => {
  it("creates tokens of 122 random bits and fractions below 1", () => {
    const tokens = Array.from({ length: 100 }, systemRandom.token);
    const fractions = Array.from({ length: 100 }, systemRandom.fraction);

    expect(new Set(tokens).size).toBe(100);
    for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    for (const fraction of fractions) expect(fraction >= 0 && fraction < 1).toBe(true);
  });
});

describe("startTimer", () => {
  // Not the system's clock itself.
  const other: Clock = { ...systemClock };

  it("R11: calls once the time is over, with the system's clock and with another one", async () => {
    const called: string[] = [];

    startTimer(systemClock, 100, () => called.push("system"));
    startTimer(systemClock, 2 ** 40, () => called.push("too early"), "background");
    startTimer(other, 100, () => called.push("other"));
    await vi.advanceTimersByTimeAsync(100);

    expect(called).toEqual(["system", "other"]);
  });

  it("R11: calls nothing once it is cancelled, and leaves no timer", async () => {
    const called: string[] = [];

    for (const clock of [systemClock, other])
      startTimer(clock, 100, () => called.push("late"), "background")();
    await vi.advanceTimersByTimeAsync(100);

    expect([called, vi.getTimerCount()]).toEqual([[], 0]);
  });
});
