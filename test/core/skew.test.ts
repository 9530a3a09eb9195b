import { describe, expect, it } from "vitest";
import { gate } from "../kit/time/gate.ts";
import { newWorld, START } from "./world.ts";

const MINUTE = 60_000;
const HOSTS = [-5 * MINUTE, 0, 5 * MINUTE];

describe("clocks that differ", () => {
  it("H4: hosts that are 5 minutes behind or ahead never run at the same time, with a grace that covers both", async () => {
    for (const [first, second] of HOSTS.flatMap((one) => HOSTS.map((other) => [one, other] as const))) {
      const world = newWorld({ clockSkewSeconds: 600, leaseSeconds: undefined });
      const remainingMs = 30_000;
      let running = 0;
      let most = 0;
      const work = async () => {
        most = Math.max(most, ++running);
        // As long as the invocation lasts.
        await world.clock.sleep(remainingMs);
        running--;
        return "done";
      };
      world.start(work, { clock: world.clock.skewed(first) }, { remainingMs });

      for (let second_ = 0; second_ < 40; second_++) {
        await world.clock.advance(1000);
        world.start(work, { clock: world.clock.skewed(second) }, { remainingMs });
      }

      expect([first, second, most]).toEqual([first, second, 1]);
    }
  });

  it("H4: without the grace they do", async () => {
    const world = newWorld({ clockSkewSeconds: 0, leaseSeconds: undefined });
    const { opened } = gate();
    let running = 0;
    const work = () => {
      running++;
      return opened;
    };

    world.start(work, { clock: world.clock.skewed(-5 * MINUTE) }, { remainingMs: 30_000 });
    await world.clock.advance(1000);
    world.start(work, { clock: world.clock.skewed(5 * MINUTE) }, { remainingMs: 30_000 });
    await world.clock.advance(0);

    expect(running).toBe(2);
  });

  it("H4: an abandoned claim of a host that is ahead ends within lease, grace and difference", async () => {
    const world = newWorld({ clockSkewSeconds: 600, leaseSeconds: 30 });
    world.start(() => new Promise(() => {}), { clock: world.clock.skewed(5 * MINUTE) });
    await world.clock.advance(30_000 + 600_000 + 5 * MINUTE + 1);

    expect(await world.call(async ({ attempt }) => attempt)).toBe(2);
  });

  it.each([
    [0, []],
    [5000, []],
    [-6000, []],
    [6001, ["clock-skewed"]],
    [-6001, ["clock-skewed"]],
  ])("H4: reports when the database's clock differs by more than the bound (%i ms)", async (ms, reported) => {
    const world = newWorld({}, { serverTime: () => START + ms });

    await world.call(async () => "done");

    expect(world.decisions()).toEqual([...reported, "executed"]);
  });
});
