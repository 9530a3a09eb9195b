// The connection is lost at each message of a call, with each client and library: the call ends, and a retry runs or replays.
import { describe, expect, it } from "vitest";
import { CUTS } from "../kit/faults/cutting-proxy.ts";
import { endOf } from "../kit/time/end-of.ts";
import { inTier } from "../setup/tier.ts";
import { hasServer } from "./given.ts";
import { CONNECTS, lossyServer } from "./lost-given.ts";

const lossy = lossyServer();

describe.skipIf(!hasServer).each(Object.entries(CONNECTS))("with %s", (name, connect) => {
  const isClient = name === "pg" || name === "postgres.js";
  // The libraries above a client send its messages.
  const step = inTier(isClient ? 1 : 3, 1);

  it.each(inTier(["within"] as const, ["within", "writes"] as const))(
    "H80: R2: a call whose connection is lost at any message ends with a code, %s",
    { timeout: 300_000 },
    async (kind) => {
      for (const cut of inTier(isClient ? CUTS : (["request", "silence"] as const), CUTS)) {
        for (let [nth, isHit] = [1, true]; isHit; nth += step) {
          const { book, bookElsewhere, clock, ids, states, endIdleSession } = await lossy.shop(connect, kind);
          isHit = false;
          void lossy.proxy.cutAt(nth, cut).then(() => {
            isHit = true;
          });

          const pass = async (isSilent: boolean) => {
            if (isSilent) await endIdleSession();
            // Otherwise the time that has passed: the pauses between the tries of a commit.
            await clock.advance(isSilent ? 31_000 : 5);
          };
          const end = await endOf(book(), pass, () => isHit && cut.endsWith("silence"));

          expect(["booked", "STORE_UNAVAILABLE"], `${cut} ${nth}`).toContain(end);
          lossy.proxy.heal();
          await clock.advance(60_000);
          const retry = cut.endsWith("silence") ? bookElsewhere : book;
          expect(await endOf(retry(), pass), `${cut} ${nth}`).toBe("booked");
          expect([await ids(), await states()], `${cut} ${nth}`).toEqual([["a"], ["completed"]]);
        }
      }
    },
  );

  it.each([
    ["the server ends the session", () => lossy.endSessions(), true],
    ["the cable is cut", () => lossy.proxy.cutAll(), true],
    ["the cable is cut, and the handler throws its own error", () => lossy.proxy.cutAll(), false],
  ])(
    "H80, H82: R2, R4: while the handler is busy, %s: STORE_UNAVAILABLE, and a retry runs",
    async (_fault, lose, answers) => {
      for (const isFinalError of [() => true, () => false]) {
        const { book, ids, states } = await lossy.shop(connect);
        const busy = async () => {
          await lose();
          // The loss is seen, as by a handler that is busy elsewhere for a while.
          await new Promise((resolve) => setTimeout(resolve, 50));
          if (!answers) throw new Error("of its own");
        };

        await expect(book(busy, isFinalError)).rejects.toMatchObject({
          code: "STORE_UNAVAILABLE",
          retryable: true,
        });

        expect([await ids(), await states()]).toEqual([[], []]);
        expect(await book()).toBe("booked");
        expect([await ids(), await states()]).toEqual([["a"], ["completed"]]);
      }
    },
  );

  it.each([
    ["as it is", (error: unknown) => error],
    ["wrapped", (error: unknown) => new Error("no seat", { cause: error })],
    ["as another error", () => new Error("no seat")],
  ])(
    "H82: R4: a connection that is lost at the handler's own statement is never recorded, thrown %s",
    async (_how, thrown) => {
      for (const lose of [lossy.endSessions, async () => lossy.proxy.cutAll()]) {
        const { bookBy, ids, states } = await lossy.shop(connect);

        const end = bookBy(async (insert) => {
          await insert();
          await lose();
          await insert().catch((error: unknown) => {
            throw thrown(error);
          });
        });

        await expect(end).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
        expect([await ids(), await states()]).toEqual([[], []]);
      }
    },
  );

  it("H82: R4: an error of the handler's own is recorded, and its session goes back", async () => {
    const { bookBy, ids, states } = await lossy.shop(connect);
    const end = () =>
      bookBy(async (insert) => {
        await insert();
        throw Object.assign(new Error("sold out"), { code: "ECONNRESET" });
      });

    await expect(end()).rejects.toThrow("sold out");
    await expect(end()).rejects.toThrow("sold out");
    expect([await ids(), await states()]).toEqual([[], ["failed"]]);
  });
});
