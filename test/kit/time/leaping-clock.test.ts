import { describe, expect, it } from "vitest";
import { leapingClock } from "./leaping-clock.ts";

describe("leapingClock", () => {
  it("goes on as the machine's clock does, and is ahead by its leaps", () => {
    const clock = leapingClock();
    const before = clock.now() - Date.now();

    clock.leap(300);
    clock.leap(61);

    expect(before).toBeCloseTo(0, -2);
    expect(clock.now() - Date.now()).toBeCloseTo(361_000, -2);
  });

  it("wakes all sleepers whose time is skipped, in the order of their times, and no others", async () => {
    const clock = leapingClock();
    const woken: number[] = [];
    const sleeping = [50, 10, 30].map((seconds) =>
      clock.sleep(seconds * 1000).then(() => woken.push(seconds)),
    );
    const late = new AbortController();
    const sleepsOn = clock.sleep(100_000, late.signal).then(() => woken.push(100));

    clock.leap(60);
    await Promise.all(sleeping);

    expect(woken).toEqual([10, 30, 50]);
    late.abort();
    await sleepsOn;
  });

  it("wakes a sleeper without a leap", async () => {
    await expect(leapingClock().sleep(1)).resolves.toBeUndefined();
  });

  it("wakes any sleeper that is called away, and does not let it sleep again", async () => {
    const clock = leapingClock();
    const leaving = new AbortController();
    const sleeping = clock.sleep(60_000, leaving.signal);

    leaving.abort();

    await expect(sleeping).resolves.toBeUndefined();
    await expect(clock.sleep(60_000, leaving.signal)).resolves.toBeUndefined();
  });
});
