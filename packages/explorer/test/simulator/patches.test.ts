import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleepOf } from "node:timers";
import { setTimeout as sleep, setInterval as ticks } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { removePatches } from "../../lib/simulator/patches/install.ts";
import { Simulator } from "../../lib/simulator/simulator.ts";

const START = 1_700_000_000_000;
const RealDate = Date;
const zip = promisify(gzip);

afterAll(removePatches);

describe("time in a scene", () => {
  it("is virtual for dates, timers of all kinds, promises of them, and signals", async () => {
    const aws = new Simulator();
    const log: unknown[] = [];
    const note = (what: string) => log.push([what, Date.now() - START]);
    await aws.run(async () => {
      setTimeout((word) => note(word), 10, "global");
      sleepOf(() => note("of node:timers"), 20);
      const interval = setInterval(() => note("interval"), 40);
      const cleared = setTimeout(() => note("never"), 5);
      clearTimeout(Number(cleared));
      AbortSignal.timeout(100).addEventListener("abort", () => note("signal"));
      await sleep(30, "value").then(note);
      await promisify(setTimeout)(20);
      note("promisified");
      await sleep(31);
      clearInterval(interval);
      for await (const tick of ticks(50, "tick")) {
        note(tick);
        break;
      }
      await sleep(5, undefined, { signal: AbortSignal.abort() }).catch(({ name }) => note(name));
    });
    expect(log).toEqual([
      ["global", 10],
      ["of node:timers", 20],
      ["value", 30],
      ["interval", 40],
      ["promisified", 50],
      ["interval", 80],
      ["signal", 100],
      ["tick", 131],
      ["AbortError", 131],
    ]);
  });

  it("refreshes and closes timers as Node does", async () => {
    const aws = new Simulator();
    const fired: number[] = [];
    await aws.run(async () => {
      const timer = setTimeout(() => fired.push(Date.now() - START), 50);
      expect(timer.unref().hasRef()).toBe(false);
      await sleep(40);
      timer.refresh();
      setTimeout(() => fired.push(-1), 60).close();
      await sleep(100);
    });
    expect(fired).toEqual([90]);
  });

  it("ticks on time, even if the work at a tick lasts longer", async () => {
    const aws = new Simulator();
    const at = await aws.run(async () => {
      const times: number[] = [];
      for await (const _ of ticks(50)) {
        times.push(Date.now() - START);
        if (times.length === 5) break;
        await sleep(times.length === 1 ? 120 : 30);
      }
      return times;
    });
    expect(at).toEqual([50, 170, 200, 230, 260]);
  });

  it("is reported by process.hrtime too", async () => {
    const aws = new Simulator();
    const fn = aws.lambda(async () => {
      const [began, beganAt] = [process.hrtime(), process.hrtime.bigint()];
      await sleep(1500);
      return [process.hrtime(began), String(process.hrtime.bigint() - beganAt)];
    });
    expect(await aws.run(() => fn.invoke({}))).toMatchObject({ value: [[1, 500_000_000], "1500000000"] });
  });

  it("ends with a timer that is cleared elsewhere, and clears no other", async () => {
    const aws = new Simulator();
    const fired: string[] = [];
    const outside = setTimeout(() => fired.push("outside"), 1);
    const [late, last] = await aws.run(async () => {
      clearTimeout(outside);
      clearTimeout(undefined);
      clearTimeout(123_456_789);
      return [setTimeout(() => fired.push("late"), 10), setTimeout(() => fired.push("last"), 20)];
    });
    clearTimeout(late);
    await aws.run(() => sleep(50));
    clearTimeout(last);
    expect(fired).toEqual(["last"]);
  });

  it("leaves dates created with a given time unchanged, and dates are dates", async () => {
    const aws = new Simulator();
    await aws.run(() => {
      expect(new Date(5).getTime()).toBe(5);
      expect(new Date()).toBeInstanceOf(RealDate);
      expect(new RealDate(1)).toBeInstanceOf(Date);
      expect(new Date().constructor).toBe(Date);
      expect(Date.UTC(1970, 0, 2)).toBe(86_400_000);
      expect(typeof Date()).toBe("string");
      expect(structuredClone(new Date())).toEqual(new Date(START));
      class Day extends Date {}
      expect(new Day()).toBeInstanceOf(Day);
      expect([new Day().getTime(), new Day(5).getTime()]).toEqual([START, 5]);
    });
  });

  it("waits for work on Node's threads", async () => {
    const aws = new Simulator();
    const fn = aws.lambda(async () => {
      const zipped = await zip("x".repeat(100_000));
      const digest = await crypto.subtle.digest("SHA-256", zipped);
      return [zipped.length > 0, digest.byteLength, Date.now() - START];
    });
    const invocation = await aws.run(() => fn.invoke({}));
    expect(invocation).toMatchObject({ outcome: "returned", value: [true, 32, 0] });
  });
});

describe("randomness in a scene", () => {
  const draw = async (seed: number) => {
    const aws = new Simulator({ seed });
    const fn = aws.lambda(() => [
      Math.random(),
      randomUUID(),
      crypto.randomUUID(),
      randomBytes(4).toString("hex"),
      randomInt(1000),
      [...crypto.getRandomValues(new Uint16Array(3))],
    ]);
    const invocation = await aws.run(() => fn.invoke({}));
    return invocation.outcome === "returned" && invocation.value;
  };

  it("comes from the seed, all of it", async () => {
    const drawn = await draw(1);
    expect(drawn).toEqual(await draw(1));
    const other = (await draw(2)) as unknown[];
    for (const [index, value] of (drawn as unknown[]).entries()) expect(value).not.toEqual(other[index]);
  });

  it("is different in each environment", async () => {
    const aws = new Simulator();
    const fn = aws.lambda(() => randomUUID());
    const values = await aws.run(async () =>
      (await Promise.all([fn.invoke({}), fn.invoke({})])).map(
        (each) => each.outcome === "returned" && each.value,
      ),
    );
    expect(new Set(values).size).toBe(2);
  });
});
