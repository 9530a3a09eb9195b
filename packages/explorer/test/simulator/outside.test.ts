// What the patches leave alone, and how they are taken away.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it, vi } from "vitest";
import { installPatches, removePatches } from "../../lib/simulator/patches/install.ts";
import { Simulator } from "../../lib/simulator/simulator.ts";
import { effect, givenAws } from "./given.ts";

const START = 1_700_000_000_000;
/** Taken before the imports, which put the network's patches in place. */
const real = vi.hoisted(() => ({ now: Date.now, Date, setTimeout, fetch, uuid: crypto.randomUUID }));

afterAll(removePatches);

describe("outside of scenes", () => {
  it("time, timers and randomness are the system's, also while a simulation runs", async () => {
    const aws = new Simulator();
    const running = aws.run(() => sleep(1000).then(() => Date.now()));
    const fired = new Promise<number>((resolve) => {
      setTimeout(() => resolve(Date.now()), 1);
    });
    expect(await running).toBe(START + 1000);
    expect(Math.abs((await fired) - real.now())).toBeLessThan(60_000);
    expect(Date.now()).toBeGreaterThan(START + 1_000_000);
    expect(randomUUID()).not.toBe(randomUUID());
  });

  it("leaves wrappers that others put over a patch alone", async () => {
    new Simulator();
    const ours = fetch;
    const spy: typeof fetch = async () => new Response();
    globalThis.fetch = spy;
    await removePatches();
    expect(fetch).toBe(spy);
    globalThis.fetch = ours;
    await expect(fetch("data:text/plain,real")).resolves.toBeInstanceOf(Response);
    globalThis.fetch = real.fetch;
  });

  it("everything is put back by removePatches, and a later simulator works again", async () => {
    new Simulator();
    expect(fetch).not.toBe(real.fetch);
    await removePatches();
    expect([Date, Date.now, setTimeout, fetch]).toEqual([real.Date, real.now, real.setTimeout, real.fetch]);
    expect(crypto.randomUUID).toBe(real.uuid);
    installPatches();
    const aws = givenAws();
    const fn = aws.lambda(() => effect("again"));
    expect((await aws.run(() => fn.invoke({}))).outcome).toBe("returned");
    await removePatches();
    expect((await aws.run(() => fn.invoke({}))).outcome).toBe("returned");
  });
});
