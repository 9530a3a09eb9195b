// How the relay finds the commits of a stream's changes: in the changes, or in their records.
import { describe, expect, it } from "vitest";
import { RecordCorruptError, StoreUnavailableError } from "../../lib/core/errors.ts";
import type { Outbox } from "../../lib/core/messages/outbox.ts";
import { newSenders } from "./senders-given.ts";

const STALE_MS = 5000;
const unreachable = new StoreUnavailableError("throttled", new Error("slow down"));
const corrupt = new RecordCorruptError("has no messages");

describe("outboxRelay", () => {
  it("sends from a change that is younger than 5 seconds, and looks up the commit of an older one", async () => {
    const world = newSenders();
    world.commit("a1");
    await world.clock.advance(STALE_MS - 1);
    await world.relay(["a1"]);
    world.commit("b1");
    await world.relay(["b1"]);
    expect(world.takings).toEqual([]);
    world.commit("c1");
    await world.clock.advance(STALE_MS);
    await world.relay(["c1"]);

    expect(world.takings).toMatchObject([{ by: "relay" }]);
    expect(world.sent).toEqual(["a1", "b1", "c1"]);
  });

  it("releases a commit for which its time runs out, and writes nothing if it hasn't taken it", async () => {
    const world = newSenders();
    world.commit("a1");

    expect(await world.relay(["a1"], 30_000, 30_000, 0)).toBe("a1");
    expect(world.asked).toEqual(["read"]);
    expect(await world.relay(["a1"], 30_000, 30_000, 0)).toBe("a1");

    expect(world.asked).toEqual(["read", "take a1", "read", "keep a1"]);
    expect(world.sent).toEqual([]);
    expect(await world.take("a1")).toMatchObject({ state: "taken" });
  });

  it("asks nothing for the finished commits of a batch that comes again, even if no note could be saved", async () => {
    const images = new Map<string, ReturnType<Outbox["readChange"]>>();
    let isBusy = true;
    let isMarkable = false;
    const world = newSenders((memory) => ({
      readChange(change) {
        const image = images.get(`${change}`) ?? memory.readChange(change);
        images.set(`${change}`, image);
        return structuredClone(image);
      },
      replaceNotes: async (...notes) => !isBusy && memory.replaceNotes(...notes),
      markSent: (...sent) =>
        sent[0].token === "c1" && !isMarkable ? Promise.reject(unreachable) : memory.markSent(...sent),
    }));
    for (const name of ["a1", "b1", "c1"]) world.commit(name);
    world.state.refused = "b1";
    const askedFor = () => world.asked.splice(0).filter((each) => /take/.test(each));

    expect(await world.relay(["a1", "b1", "c1"])).toBe("a1");
    isBusy = false;
    expect(await world.relay(["a1", "b1", "c1"])).toBe("c1");
    expect(askedFor()).toEqual(["take b1", "take c1"]);
    isMarkable = true;
    expect(await world.relay(["a1", "b1", "c1"])).toBeUndefined();

    expect(askedFor()).toEqual(["take c1"]);
  });

  it("reads the notes once, and only for messages that have an order", async () => {
    const world = newSenders();
    world.commit("s1");
    await world.relay(["s1"]);
    expect(world.asked).toEqual(["mark s1"]);
    const reads = () => world.asked.filter((each) => each === "read").length;
    world.commit(["s2", "a1"]);
    await world.relay(["s2"]);
    expect(reads()).toBe(1);
    world.commit("b1");
    world.commit("c1");
    await world.relay(["b1", "c1"]);

    expect(reads()).toBe(2);
    expect(world.sent).toHaveLength(5);
  });

  it("takes a commit whose host's clock is ahead", async () => {
    const world = newSenders((memory) => ({
      readChange: (change) => {
        const { unsent: _, ...image } = memory.readChange(change)!;
        return image;
      },
    }));
    world.commit("a1", world.clock.now() + 300);
    await world.relay(["a1"]);

    expect(world.sent).toEqual(["a1"]);
  });

  it.each([true, false])(
    "H35: holds back what follows a commit that a sweeper has, whether it's in the answer or not: %s",
    async (isInAnswer) => {
      const world = newSenders((memory) => ({
        async take(...taking) {
          const taken = await memory.take(...taking);
          return isInAnswer ? taken : { state: "held", unsent: undefined };
        },
      }));
      world.commit("a1");
      await world.take("a1");
      world.commit("a2");
      world.commit("b1");

      expect(await world.relay(["a1", "a2", "b1"])).toBeUndefined();

      expect(world.sent).toEqual(["b1"]);
      expect(await world.memory.readNotes()).toContain("op##a2");
    },
  );

  it("H35: holds back nothing for a commit that a sweeper had, and has sent in between", async () => {
    const world = newSenders((memory) => ({
      async take(recordKey) {
        await memory.markSent((await memory.load(recordKey))!);
        return { state: "held", unsent: undefined };
      },
    }));
    world.commit("a1");
    await world.take("a1");
    world.commit("a2");

    expect(await world.relay(["a1", "a2"])).toBeUndefined();
    expect(world.sent).toEqual(["a2"]);
  });

  it("holds back nothing for a parked commit", async () => {
    const world = newSenders();
    world.commit("a1");
    await world.clock.advance(STALE_MS);
    await world.memory.park("op##a1", world.clock.now());
    world.commit("a2");

    expect(await world.relay(["a1", "a2"])).toBeUndefined();
    expect(world.sent).toEqual(["a2"]);
  });

  it("H35: stops at a commit that can't be taken, and continues there", async () => {
    let tries = 0;
    const world = newSenders((memory) => ({
      take: async (...taking) => {
        if (++tries === 1) throw unreachable;
        return memory.take(...taking);
      },
    }));
    world.commit("b1");
    await world.clock.advance(STALE_MS);
    world.commit("a1");
    world.commit("c1");

    expect(await world.relay(["a1", "b1", "c1"])).toBe("b1");
    expect(world.sent).toEqual(["a1"]);
    expect(world.events).toMatchObject([{ event: "send-failed", error: unreachable }, { event: "sent" }]);
    expect(await world.relay(["b1", "c1"])).toBeUndefined();
    expect(world.sent).toEqual(["a1", "b1", "c1"]);
  });

  it("H35: sends nothing of a group while it is unknown whether it waits", async () => {
    let reads = 0;
    const world = newSenders((memory) => ({
      async readNotes() {
        if (++reads === 1) throw unreachable;
        return memory.readNotes();
      },
    }));
    for (const name of ["a1", "b1"]) world.commit(name);

    expect(await world.relay(["a1", "b1"])).toBe("a1");
    expect(world.sent).toEqual([]);
    expect(world.events).toMatchObject([{ event: "send-failed", messages: 0, error: unreachable }]);
    expect(await world.relay(["a1", "b1"])).toBeUndefined();
    expect(world.sent).toEqual(["a1", "b1"]);
  });

  it("reports a change that can't be read, and leaves its commit to the sweeper", async () => {
    const world = newSenders((memory) => ({
      readChange(change) {
        if (String(change) === "op##b1") throw corrupt;
        return memory.readChange(change);
      },
    }));
    for (const name of ["a1", "b1", "c1"]) world.commit(name);

    expect(await world.relay(["a1", "b1", "c1"])).toBeUndefined();
    expect(world.sent).toEqual(["a1", "c1"]);
    expect(world.events.find(({ event }) => event === "send-failed")).toEqual({
      event: "send-failed",
      by: "relay",
      operation: "",
      keyHash: "",
      messages: 0,
      lagMs: 0,
      error: corrupt,
    });
  });

  it.each<[string, () => Promise<boolean>, "parked" | "send-failed", unknown, string | undefined]>([
    ["is parked", async () => true, "parked", corrupt, undefined],
    ["of a later version stays", async () => false, "send-failed", corrupt, undefined],
    [
      "that can't be parked now comes again",
      () => Promise.reject(unreachable),
      "send-failed",
      unreachable,
      "b1",
    ],
  ])("a commit that can't be read %s, and is reported", async (_, park, event, error, again) => {
    const parked: unknown[][] = [];
    const world = newSenders((memory) => ({
      async take(recordKey, taking) {
        if (recordKey === "op##b1") throw corrupt;
        return memory.take(recordKey, taking);
      },
      park(...parking) {
        parked.push(parking);
        return park();
      },
    }));
    world.commit("b1");
    await world.clock.advance(STALE_MS);

    expect(await world.relay(["b1"])).toBe(again);
    expect(world.events).toMatchObject([
      { event, by: "relay", operation: "op", messages: 0, lagMs: STALE_MS, error },
    ]);
    expect(parked).toEqual([["op##b1", world.clock.now()]]);
  });

  it("counts the age of a commit whose time can't be read from now on", async () => {
    const world = newSenders((memory) => ({
      readChange: (change) => ({ recordKey: memory.readChange(change)!.recordKey, committedAt: 0 }),
      take: () => Promise.reject(corrupt),
    }));
    world.commit("a1");
    await world.relay(["a1"]);

    expect(world.events).toMatchObject([{ event: "parked", lagMs: 0 }]);
  });

  it("reports the messages of one try that it parks apart from those that it tries again, and why", async () => {
    const world = newSenders();
    world.commit(["s1", "s2", "a1"]);
    const [s1, , a1] = (await world.memory.load("op##s1"))!.messages;
    const invalid = { ...s1!, body: undefined } as never;
    world.memory.add({ ...(await world.memory.load("op##s1"))!, messages: [s1!, invalid, a1!] });
    const down = new Error("down");
    world.state.onSend = () => Promise.reject(down);
    await world.relay(["s1"]);

    expect(world.events).toMatchObject([
      { event: "parked", messages: 1, error: { cause: down } },
      { event: "send-failed", messages: 2, error: { cause: down } },
    ]);
  });

  it("H98: N6: doesn't call a commit without messages sent twice", async () => {
    const world = newSenders((memory) => ({
      readChange(change) {
        const { unsent, ...image } = memory.readChange(change)!;
        return { ...image, unsent: { ...unsent!, messages: [], token: "of another attempt" } };
      },
    }));
    world.commit("a1");
    await world.relay(["a1"]);

    expect(world.events).toMatchObject([{ event: "sent", messages: 0, error: undefined }]);
  });
});
