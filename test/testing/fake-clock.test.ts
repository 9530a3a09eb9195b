import { fakeClock } from "onceonly/testing";
import { describe, expect, it } from "vitest";

describe("fakeClock", () => {
  it("stands still until it is moved", async () => {
    const clock = fakeClock(1000);
    const begin = clock.now();
    await new Promise((resolve) => setImmediate(resolve));

    expect(clock.now()).toBe(begin);
    await clock.advance(5);
    expect(clock.now()).toBe(1005);
  });

  it("starts at the same time by default", () => {
    expect(fakeClock().now()).toBe(fakeClock().now());
  });

  it("wakes sleepers in the order of their times, each at its own", async () => {
    const clock = fakeClock(0);
    const woken: [name: string, at: number][] = [];
    const sleep = async (name: string, ms: number) => {
      await clock.sleep(ms);
      woken.push([name, clock.now()]);
    };
    void sleep("third", 30);
    void sleep("first", 10);
    void sleep("second", 10);
    void sleep("never", 31);

    await clock.advance(30);

    expect(woken).toEqual([
      ["first", 10],
      ["second", 10],
      ["third", 30],
    ]);
    expect(clock.now()).toBe(30);
    expect(clock.sleepers).toBe(1);
  });

  it("wakes in the same advance what a woken sleeper starts", async () => {
    const clock = fakeClock(0);
    const times: number[] = [];
    const loop = async () => {
      for (let rounds = 0; rounds < 3; rounds++) {
        await clock.sleep(10);
        times.push(clock.now());
      }
    };
    void loop();

    await clock.advance(100);

    expect(times).toEqual([10, 20, 30]);
  });

  it("wakes immediately sleepers with no time to sleep, and not before they sleep", async () => {
    const clock = fakeClock(0);
    let isAwake = false;
    void clock.sleep(-5).then(() => {
      isAwake = true;
    });
    expect(isAwake).toBe(false);

    await clock.advance(0);

    expect(isAwake).toBe(true);
    expect(clock.now()).toBe(0);
  });

  it("wakes a sleeper whose signal aborts, without moving time", async () => {
    const clock = fakeClock(0);
    const controller = new AbortController();
    const sleep = clock.sleep(50, controller.signal);

    controller.abort();

    await sleep;
    expect(clock.now()).toBe(0);
    expect(clock.sleepers).toBe(0);
    await clock.sleep(50, controller.signal);
  });

  it("run moves time as far as the work needs, and answers as the work does", async () => {
    const clock = fakeClock(0);
    const work = async () => {
      await clock.sleep(40);
      await clock.sleep(2);
      return "done";
    };

    expect(await clock.run(work())).toBe("done");
    expect(clock.now()).toBe(42);
    await expect(clock.run(clock.sleep(1).then(() => Promise.reject(new Error("failed"))))).rejects.toThrow(
      "failed",
    );
  });

  it("run reports when the work waits for something else", async () => {
    await expect(fakeClock().run(new Promise(() => {}))).rejects.toThrow("not the clock");
  });

  it("is seen differently by hosts whose clocks differ, and they sleep the same time", async () => {
    const clock = fakeClock(1000);
    const ahead = clock.skewed(300);

    expect([ahead.now(), clock.skewed(-300).now()]).toEqual([1300, 700]);
    const sleep = ahead.sleep(10);
    await clock.advance(10);
    await sleep;

    expect(ahead.now()).toBe(1310);
  });
});
