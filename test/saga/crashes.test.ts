// A saga dies at each of its requests, and so does the attempt that goes on: all is done or undone, each effect once.
import { describe, it } from "vitest";
import { fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { inTier } from "../setup/tier.ts";
import { type Books, ENDINGS, type Life, mortal, play, playPairs } from "./crashes-given.ts";

function inMemory(life: Life): Books<MemoryWrite> {
  const memory = new MemoryStore();
  const store = intercepted(memory, async (_, request) => {
    await life.point();
    const answer = await request();
    await life.point();
    return answer;
  });
  return {
    store,
    key: "key-1",
    clock: fakeClock(1_700_000_000_000),
    order: (open) => ({
      table: "orders",
      key: "1",
      item: { open },
      ...(open && { condition: (former) => !former }),
    }),
    isOpen: async () => memory.table("orders").get("1")?.open === true,
  };
}

describe.each([false, true])(
  "H53: a saga that dies at each of its requests, twice (charge at most once: %s)",
  (atMostOnce) => {
    it.each(ENDINGS)(
      "if its systems are %s, all is %s",
      async (mode, ending) => {
        // Each request is a first and a second one in the short form too, though not with each other.
        const stride = inTier(5, 1);
        const playAt = (...deaths: readonly number[]) => {
          const life = mortal();
          return play(inMemory(life), life, mode, atMostOnce, ...deaths);
        };
        const runs = await playPairs(
          playAt,
          { mode, atMostOnce, ending },
          (first, then) => then % stride === first % stride,
        );
        console.log(`${mode}, at most once ${atMostOnce}: ${runs} pairs of crashes, none half done`);
      },
      inTier(60_000, 600_000),
    );
  },
);
