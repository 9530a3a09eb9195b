// `attempt` as a fencing number: a system that remembers the highest one it has seen refuses whoever comes late.
import { describe, expect, it } from "vitest";
import type { Execution } from "../../lib/core/execution.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { gate } from "../kit/time/gate.ts";
import { newWorld } from "./world.ts";

/** Somebody else's system. Takes a call only from the newest attempt that it knows of. */
class FencedGateway {
  readonly charges: string[] = [];
  #highest = 0;

  charge(by: string, attempt = 0): void {
    if (attempt < this.#highest) throw new Error(`attempt ${attempt} is over, ${this.#highest} was here`);
    this.#highest = attempt;
    this.charges.push(by);
  }
}

describe("an attempt that comes back after its lease", () => {
  const chargeLate = async (charge: (by: string, attempt?: number) => void) => {
    const world = newWorld();
    const { opened, open } = gate();
    const late = world.start(async ({ attempt }: Execution<MemoryWrite>) => {
      await opened;
      charge("the late one", attempt);
      return "late";
    });
    await world.clock.advance(35_001);
    const winner = await world.call(({ attempt }) => {
      charge("the winner", attempt);
      return "winner";
    });
    open();
    return { world, winner, late };
  };

  it("H3: is refused by a system that is given the number of the attempt", async () => {
    const gateway = new FencedGateway();

    const { world, winner, late } = await chargeLate((by, attempt) => gateway.charge(by, attempt));

    // Refused as it was, its answer is the winner's.
    expect((await late).result).toBe("winner");
    expect(gateway.charges).toEqual(["the winner"]);
    // The refusal releases nothing: the claim is the winner's.
    expect([winner, await world.call(async () => "never")]).toEqual(["winner", "winner"]);
  });

  it("H3: has its effect a second time if nothing fences it", async () => {
    const charges: string[] = [];

    const { world, late } = await chargeLate((by) => charges.push(by));

    expect((await late).result).toBe("winner");
    expect(charges).toEqual(["the winner", "the late one"]);
    expect(world.decisions()).toEqual(["taken-over", "executed", "claim-lost", "replayed"]);
  });

  it("H3: keeps counting over releases and take-overs, so no number comes twice", async () => {
    const world = newWorld();
    const numbers: (number | undefined)[] = [];
    const note = (fate: "fails" | "hangs" | "ends") => async (execution: Execution<MemoryWrite>) => {
      numbers.push(execution.attempt);
      if (fate === "fails") throw new Error("try again");
      if (fate === "hangs") await new Promise(() => {});
      return "done";
    };

    await world.call(note("fails")).catch(() => {});
    world.start(note("hangs"));
    await world.clock.advance(35_001);
    await world.call(note("fails")).catch(() => {});
    await world.call(note("ends"));
    await world.call(note("ends"));

    expect(numbers).toEqual([1, 2, 3, 4]);
  });
});
