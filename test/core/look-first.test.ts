import { describe, expect, it } from "vitest";
import { FingerprintMismatchError, PermanentError, StoreUnavailableError } from "../../lib/core/errors.ts";
import { resolveOptions } from "../../lib/core/resolved-options.ts";
import { MemoryStore } from "../../lib/testing/index.ts";
import { failing, intercepted, unreachable } from "../kit/faults/faulty-store.ts";
import { counting, newWorld } from "./world.ts";

const never = (): Promise<unknown> => new Promise(() => {});
const done = async (): Promise<unknown> => "done";

describe("perform, claimed, with a look", () => {
  const looking = (): ReturnType<typeof newWorld> => newWorld({ lookFirst: true });

  it("replays by one read, and runs for one read more", async () => {
    const world = looking();
    const { requests, store } = counting(world);

    expect(await world.call(async () => "done", { store })).toBe("done");
    expect(requests.splice(0)).toEqual(["find", "claim", "settle"]);
    expect(await world.call(async () => "never", { store })).toBe("done");

    expect(requests).toEqual(["find"]);
    expect(world.decisions()).toEqual(["executed", "replayed"]);
    expect(world.events[1]?.attempt).toBe(1);
  });

  it("replays a final error by it", async () => {
    const world = looking();
    const fail = async () => {
      throw new PermanentError("sold out");
    };
    await expect(world.call(fail)).rejects.toThrow("sold out");
    const { requests, store } = counting(world);

    await expect(world.call(async () => "never", { store })).rejects.toThrow("sold out");

    expect(requests).toEqual(["find"]);
  });

  it.each([
    ["in progress", never, {}, "EXECUTION_IN_PROGRESS"],
    ["of another payload", done, { input: "another" }, "FINGERPRINT_MISMATCH"],
  ] as const)(
    "leaves a record that isn't an answer to the claim: a record %s",
    async (_, work, request, code) => {
      const world = looking();
      void world.start(work);
      await world.clock.run(Promise.resolve());
      const { requests, store } = counting(world);

      await expect(world.call(async () => "never", { store }, request)).rejects.toMatchObject({ code });

      expect(requests).toEqual(["find", "claim"]);
    },
  );

  it("H14: a look that is stale costs a claim that is refused, and nothing else", async () => {
    const world = looking();
    await world.call(async () => "done");
    const stale = intercepted(world.memory, async (method, request) =>
      method === "find" ? undefined : request(),
    );

    expect(await world.call(async () => "never", { store: stale })).toBe("done");
  });

  it("H14: a look that shows another payload's previous record rejects no caller", async () => {
    const world = looking();
    await world.call(async () => "first", { shouldStore: () => false });
    const former = {
      ...world.record(),
      state: "in-progress" as const,
      leaseEndsAt: world.clock.now() + 9000,
    };
    const stale = intercepted(world.memory, async (method, request) =>
      method === "find" ? former : request(),
    );

    expect(await world.call(async () => "mended", { store: stale }, { input: "mended" })).toBe("mended");
  });

  it("runs if the store fails and the options say so, but not if a record was seen", async () => {
    const world = newWorld({ lookFirst: true, whenStoreFails: "run" });
    const down = intercepted(world.memory, async (method, request) => {
      if (method === "find" || method === "claim") throw unreachable();
      return request();
    });
    expect(await world.call(async () => "ran", { store: down })).toBe("ran");

    const another = newWorld({ lookFirst: true, whenStoreFails: "run" });
    void another.start(never);
    await another.clock.run(Promise.resolve());
    const failsToClaim = failing(another.memory, "claim", "before");
    await expect(another.call(async () => "never", { store: failsToClaim })).rejects.toThrow(
      StoreUnavailableError,
    );
  });

  it("is off, unless the mode is optimistic or the options say so", () => {
    const given = { operation: "op", store: new MemoryStore() };

    expect(resolveOptions(given).lookFirst).toBe(false);
    expect(resolveOptions({ ...given, lookFirst: undefined }).lookFirst).toBe(false);
    expect(resolveOptions({ ...given, mode: "optimistic" }).lookFirst).toBe(true);
    expect(resolveOptions({ ...given, mode: "optimistic", lookFirst: false }).lookFirst).toBe(false);
  });

  it("the claim reports a mismatch with a finished record", async () => {
    const world = looking();
    await world.call(async () => "done");

    await expect(world.call(async () => "never", {}, { input: "another" })).rejects.toThrow(
      FingerprintMismatchError,
    );
  });
});
