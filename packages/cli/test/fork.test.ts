// What an operator sees of a fork that is refused, and how another command treats a forked key.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { forkRecord } from "../../../lib/core/fork-record.ts";
import { identify, PUBLIC_SCOPE } from "../../../lib/core/identity.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import { saga } from "../../../lib/saga/saga.ts";
import { cached } from "../../../lib/stores/cached.ts";
import { aboutFork, whyNotForked } from "../lib/fork.ts";
import { BY, holding } from "./held-given.ts";
import { newWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});

/** A saga whose last step may have happened. */
async function stopped() {
  const key = randomUUID();
  const order = saga("order", [
    { name: "charge", pivot: true, run: () => "ch_1" },
    { name: "ship", run: () => Promise.reject(new Error("no answer")) },
  ]);
  const call = runOnce(holding(world, "order"), key, {}, (execution) => order.run(execution, {}));
  await expect(call).rejects.toThrow();
  const from = ["--from", "order/charge", "--as", `${key}-1`, ...BY, "--yes"];
  return { key, named: [key, "-o", "order"], from };
}

describe("R8: onceonly fork", () => {
  it("asks for a flag if a step may have happened, and the key isn't forked or run again after that", async () => {
    const { key, named, from } = await stopped();
    const refused = await world.run("fork", [...named, ...from]);
    expect(refused).toMatchObject({ status: 1 });
    expect(refused.text).toMatch(/^not forked: order\/ship may have happened.*--even-though-started$/);

    expect(await world.run("fork", [...named, ...from, "--even-though-started"])).toMatchObject({
      status: 0,
    });

    const other = ["--from", "order/charge", "--as", `${key}-2`, ...BY, "--yes"];
    const again = await world.run("fork", [...named, ...other]);
    const { recordKey } = identify("order", PUBLIC_SCOPE, `${key}-1`);
    expect(again.text).toBe(`not forked: it was forked already, so fork its fork instead: ${recordKey}`);
    const rerun = await world.run("rerun", [...named, ...BY, "--yes"]);
    expect(rerun.text).toBe("not changed: it was forked, so it runs again under the key of its fork");
    const erased = await world.run("erase", [...named, ...BY, "--yes"]);
    expect(erased.text).toBe(`erased\nits fork has copies of step results, so erase it too: ${recordKey}`);
  });

  it("names a cached store as such, and not as one without keys", async () => {
    const fork = { by: "ana", why: "x", from: "a", as: "b" };
    const { recordKey } = identify("order", PUBLIC_SCOPE, "key");
    const error = await forkRecord({ store: cached(world.store) }, recordKey, fork).catch((each) => each);
    expect(aboutFork(error)).toMatchObject({
      message:
        "--store must export the store that holds the records, without `cached` or `migrating` in front of it",
    });
  });

  it("has a reason for each state", () => {
    expect(whyNotForked({ forked: false, state: "started" })).toContain("may have happened");
    expect(whyNotForked({ forked: false, state: "held" })).toBe("the key is held");
  });
});
