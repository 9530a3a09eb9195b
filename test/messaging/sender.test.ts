import { fakeClock, fakeRandom } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { settingsOf } from "../../lib/messaging/outbox-options.ts";
import { senderOf } from "../../lib/messaging/sender.ts";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";

describe("the time of an invocation that sends", () => {
  /** `lastsMs`: what the host reports at the start, if it reports anything. */
  const invocation = (lastsMs?: number) => {
    const clock = fakeClock(1_000_000);
    const outbox = new MemoryOutbox(() => {});
    const settings = settingsOf("relay", {
      outbox,
      destinations: "any",
      clock,
      random: fakeRandom("sender"),
    });
    const endsAt = clock.now() + (lastsMs ?? 0);
    const context = { getRemainingTimeInMillis: () => endsAt - clock.now() };
    const open = () => senderOf(settings, lastsMs === undefined ? undefined : context, new Map()).time;
    return { clock, open, ...open() };
  };

  it.each<[number, number, number]>([
    [30_000, 4000, 6000],
    [24_000, 4000, 6000],
    [12_000, 2000, 3000],
    [600, 100, 150],
  ])(
    "of %d ms gives a request %d ms, and keeps the last %d ms free",
    async (lasts, requestMs, keptFreeMs) => {
      const { clock, hasMore, requestTimeoutMs } = invocation(lasts);

      expect(requestTimeoutMs).toBe(requestMs);
      expect(hasMore()).toBe(true);
      await clock.advance(lasts - keptFreeMs - 1);
      expect(hasMore()).toBe(true);
      await clock.advance(1);
      expect(hasMore()).toBe(false);
    },
  );

  it("doesn't end if the host doesn't report it", async () => {
    const { clock, hasMore, requestTimeoutMs } = invocation();

    expect(requestTimeoutMs).toBe(4000);
    await clock.advance(3_600_000);
    expect(hasMore()).toBe(true);
  });

  it("reserves a commit until it's over on any host's clock, and for the unknown time of five minutes", async () => {
    const short = invocation(30_000.5);
    await short.clock.advance(10_000);

    expect(short.taking()).toMatchObject({ now: 1_010_000, until: 1_035_001 });
    expect(invocation(900_000).taking()).toMatchObject({ now: 1_000_000, until: 1_305_000 });
    expect(invocation().taking()).toMatchObject({ now: 1_000_000, until: 1_305_000 });
  });

  it("has one id, by which its repeated requests are recognised", () => {
    const { open, taking } = invocation(30_000);

    expect(taking().id).toBe(taking().id);
    expect(taking().id).not.toBe(open().taking().id);
  });
});
