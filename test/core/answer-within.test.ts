import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { askWithin } from "../../lib/core/answer-within.ts";
import { fakeClock } from "../../lib/testing/index.ts";

const late = () => new Error("late");

/** A request whose client never answers and ignores its signal. */
function unanswered() {
  const signals: AbortSignal[] = [];
  const ask = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<never>(() => {});
  };
  return { ask, reason: () => signals[0]?.reason as unknown };
}

describe("a request with a time limit", () => {
  it("R11: gives its answer, and leaves neither a timer nor a listener", async () => {
    const clock = fakeClock();
    const { signal } = new AbortController();
    let listeners = 0;
    const ask = async () => {
      listeners = getEventListeners(signal, "abort").length;
      return "answer";
    };

    expect(await askWithin(clock, 100, ask, late)).toBe("answer");
    expect(await askWithin(clock, 100, ask, late, signal)).toBe("answer");

    expect([listeners, getEventListeners(signal, "abort").length, clock.sleepers]).toEqual([1, 0, 0]);
  });

  it("R11: fails and is aborted once the time is over", async () => {
    const clock = fakeClock();
    const { ask, reason } = unanswered();
    const answer = askWithin(clock, 100, ask, late);
    answer.catch(() => {});

    await clock.advance(99);
    expect(reason()).toBeUndefined();
    await clock.advance(1);

    await expect(answer).rejects.toThrow("late");
    expect(reason()).toEqual(late());
  });

  it.each(["before", "during"])("R11: ends as its caller aborts %s the request", async (when) => {
    const caller = new AbortController();
    const cancelled = new Error("cancelled");
    const { ask, reason } = unanswered();
    if (when === "before") caller.abort(cancelled);
    const answer = askWithin(fakeClock(), 100, ask, late, caller.signal);
    caller.abort(cancelled);

    await expect(answer).rejects.toBe(cancelled);
    expect(reason()).toBe(cancelled);
  });
});
