// The connection is lost at each message of a call, with each client: the call ends with a code, and the effect happens once.
import type { Redis } from "ioredis";
import { fakeClock } from "onceonly/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CUTS, type Cut, type CuttingProxy, startCuttingProxy } from "../kit/faults/cutting-proxy.ts";
import { endOf } from "../kit/time/end-of.ts";
import { inTier } from "../setup/tier.ts";
import { CLIENTS, hasServer, portOf, redisOf } from "./given.ts";
import { shopOf } from "./shop-given.ts";

let admin: Redis;
let proxy: CuttingProxy;
beforeAll(async () => {
  if (!hasServer) return;
  const port = await portOf();
  admin = redisOf(port);
  proxy = await startCuttingProxy(port);
});
afterAll(() => proxy?.close());

/** A purchase of a step and a commit with a write. Resolves to whether the fault was met. */
async function buyWith(client: Parameters<typeof shopOf>[0], nth: number, cut: Cut): Promise<boolean> {
  const { call, orders, stateOf } = shopOf(client, admin);
  const clock = fakeClock(Date.now());
  const charges: string[] = [];
  const buy = () =>
    call(
      async ({ step, commit }) => {
        const charge = await step("charge", () => `ch_${charges.push("charge")}`);
        return commit(charge, { writes: [{ command: ["RPUSH", orders, charge] }] });
      },
      { clock },
    );
  let isHit = false;
  void proxy.cutAt(nth, cut).then(() => {
    isHit = true;
  });

  const pass = (isSilent: boolean) => isSilent && clock.advance(31_000);
  const first = await endOf(buy(), pass, () => isHit && cut.endsWith("silence"));

  const title = `${cut} ${nth}`;
  expect(`${first}`, title).toMatch(/^(ch_1|STORE_UNAVAILABLE)$/);
  proxy.heal();
  await clock.advance(60_000);
  const retry = await endOf(buy(), pass);
  expect([await admin.lrange(orders, 0, -1), await stateOf()], title).toEqual([[retry], "completed"]);
  if (first !== "STORE_UNAVAILABLE") expect(retry, title).toBe(first);
  return isHit;
}

describe.skipIf(!hasServer).each(Object.entries(CLIENTS))("with %s", (_, connect) => {
  it.each<Cut>(inTier<readonly Cut[]>(["answer", "silence"], CUTS))(
    "H80: R2: a call whose connection is lost at any message, %s, ends with a code, and has one effect",
    { timeout: 300_000 },
    async (cut) => {
      for (let [nth, isHit] = [1, true]; isHit; nth++)
        isHit = await buyWith(await connect(proxy.port), nth, cut);
    },
  );
});
