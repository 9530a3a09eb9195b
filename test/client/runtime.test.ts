// Real time, on fake timers: what is started is stopped.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemRuntime } from "../../lib/client/runtime.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("systemRuntime", () => {
  it("sleeps as long as it is asked to", async () => {
    const ended = vi.fn();
    const sleep = systemRuntime.sleep(1000, undefined).then(ended);

    await vi.advanceTimersByTimeAsync(999);
    expect(ended).not.toHaveBeenCalled();

    await vi.advanceTimersByTimeAsync(1);
    await sleep;
    expect(ended).toHaveBeenCalledOnce();
  });

  it("ends a sleep immediately with the signal's reason and leaves no timer running", async () => {
    const controller = new AbortController();
    const sleep = systemRuntime.sleep(1000, controller.signal);

    controller.abort("enough");

    await expect(sleep).rejects.toBe("enough");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not sleep under a signal that is aborted already", async () => {
    await expect(systemRuntime.sleep(1000, AbortSignal.abort("enough"))).rejects.toBe("enough");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not listen to a signal that outlives many sleeps", async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");

    const sleep = systemRuntime.sleep(1, signal);
    await vi.advanceTimersByTimeAsync(1);
    await sleep;

    expect(removed.mock.calls).toEqual(added.mock.calls);
  });

  it("stops a timer that is not needed any more", async () => {
    const onEnd = vi.fn();

    systemRuntime.startTimer(1000, onEnd)();
    await vi.advanceTimersByTimeAsync(2000);

    expect(onEnd).not.toHaveBeenCalled();
  });
});
