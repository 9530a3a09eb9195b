import { describe, expect, it } from "vitest";
import { IdempotencyKeyInvalidError } from "../../lib/core/errors.ts";
import { failing, intercepted } from "../kit/faults/faulty-store.ts";
import { newWorld, START } from "./world.ts";

/** A UUIDv7 that was made `ms` after 2023-11-14T22:13:20Z, the start of every world. */
function uuidAt(ms: number): string {
  const hex = (START + ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7123-8abc-0123456789ab`;
}

describe("expired records", () => {
  it("H5: a record that TTL has not deleted yet neither blocks nor replays after its retention", async () => {
    const world = newWorld({ retentionSeconds: 60 });
    await world.call(async () => "old");
    await world.clock.advance(59_999);
    expect(await world.call(async () => "never")).toBe("old");
    await world.clock.advance(1);

    expect(await world.call(async ({ attempt }) => ["new", attempt])).toEqual(["new", 2]);

    expect(world.decisions()).toEqual(["executed", "replayed", "key-expired", "executed"]);
    expect(await world.call(async () => "never")).toEqual(["new", 2]);
  });

  it("H5: an expired record in any state is replaced whole, with another payload as well", async () => {
    for (const state of ["in-progress", "completed", "failed", "released", "held"] as const) {
      const world = newWorld({ retentionSeconds: 60 });
      await world.call(async () => "old");
      world.memory.alter([...world.memory.records.keys()][0]!, {
        state,
        steps: { charge: { state: "done", attempt: 1, at: 1 } },
      });
      await world.clock.advance(60_000);

      expect(await world.call(async () => "new", {}, { input: "other" })).toBe("new");
      expect(world.record().steps).toBeUndefined();
    }
  });

  it("H5: of two calls that replace an expired record at the same time, one runs", async () => {
    const world = newWorld({ retentionSeconds: 60 });
    await world.call(async () => "old");
    await world.clock.advance(60_000);
    let runs = 0;
    const work = async () => {
      runs++;
      await world.clock.sleep(100);
      return "new";
    };

    const both = [world.start(work), world.start(work)];
    await world.clock.advance(100);
    const answers = (await Promise.allSettled(both)).map(({ status }) => status);

    expect(runs).toBe(1);
    expect(answers.sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("H40: a key that is used again after its retention runs and is reported", async () => {
    const world = newWorld({ retentionSeconds: 60 });
    await world.call(async () => "old");
    await world.clock.advance(60_000);

    await world.call(async () => "new");

    expect(world.decisions()).toContain("key-expired");
  });

  it("H40: a key that is used again after its retention is rejected, if the options say so", async () => {
    const world = newWorld({ retentionSeconds: 60, whenKeyExpired: "reject" });
    let runs = 0;
    await world.call(async () => ++runs);
    await world.clock.advance(60_000);

    await expect(world.call(async () => ++runs)).rejects.toThrow(IdempotencyKeyInvalidError);
    await expect(world.call(async () => ++runs)).rejects.toThrow("send a new key");

    expect(runs).toBe(1);
    expect(world.decisions()).toEqual(["executed", "key-expired", "key-expired"]);
  });

  it("claims again when the expired record is deleted between refusal and replacement", async () => {
    const world = newWorld({ retentionSeconds: 60 });
    await world.call(async () => "old");
    await world.clock.advance(60_000);
    const store = intercepted(world.memory, async (method, request, parameters) => {
      if (method === "claim" && parameters[1] !== undefined) {
        world.memory.alter([...world.memory.records.keys()][0]!, undefined);
      }
      return request();
    });

    expect(await world.call(async ({ attempt }) => attempt, { store })).toBe(1);
  });
});

describe("keys that name their own age", () => {
  it("H40: a UUIDv7 older than the retention without a record is reported, and runs", async () => {
    const world = newWorld({ retentionSeconds: 60 });

    expect(await world.call(async () => "ran", {}, { key: uuidAt(-60_000) })).toBe("ran");

    expect(world.decisions()).toEqual(["key-expired", "executed"]);
  });

  it("H40: a UUIDv7 older than the retention without a record is rejected, if the options say so", async () => {
    const world = newWorld({ retentionSeconds: 60, whenKeyExpired: "reject" });
    let runs = 0;

    await expect(world.call(async () => ++runs, {}, { key: uuidAt(-60_000) })).rejects.toThrow(
      IdempotencyKeyInvalidError,
    );

    expect(runs).toBe(0);
    expect(world.memory.records.size).toBe(0);
  });

  it("H40: an old UUIDv7 with a record is replayed", async () => {
    const world = newWorld({ retentionSeconds: 60, whenKeyExpired: "reject" });
    const request = { key: uuidAt(-59_000) };
    await world.call(async () => "done", {}, request);
    await world.clock.advance(30_000);

    expect(await world.call(async () => "never", {}, request)).toBe("done");
  });

  it("H40: an old UUIDv7 whose expired record still exists is reported once, or rejected", async () => {
    const world = newWorld({ retentionSeconds: 60 });
    const request = { key: uuidAt(0) };
    await world.call(async () => "old", {}, request);
    await world.clock.advance(60_000);

    const rejected = world.call(async () => "never", { whenKeyExpired: "reject" }, request);
    await expect(rejected).rejects.toThrow(IdempotencyKeyInvalidError);
    expect(await world.call(async () => "new", {}, request)).toBe("new");

    expect(world.decisions()).toEqual(["executed", "key-expired", "key-expired", "executed"]);
  });

  it("H40: an old UUIDv7 whose expired record is deleted between look and claim is still reported", async () => {
    const world = newWorld({ retentionSeconds: 60 });
    const request = { key: uuidAt(0) };
    await world.call(async () => "old", {}, request);
    await world.clock.advance(60_000);
    const store = intercepted(world.memory, async (method, claim) => {
      if (method === "claim") world.memory.alter([...world.memory.records.keys()][0]!, undefined);
      return claim();
    });

    expect(await world.call(async () => "new", { store }, request)).toBe("new");

    expect(world.decisions()).toEqual(["executed", "key-expired", "executed"]);
  });

  it("a younger UUIDv7 costs no read, and neither does any other key", async () => {
    const world = newWorld({ retentionSeconds: 60, whenKeyExpired: "reject" });
    const store = failing(world.memory, "find", "before");

    expect(await world.call(async () => 1, { store }, { key: uuidAt(-59_999) })).toBe(1);
    expect(await world.call(async () => 2, { store }, { key: "order-2" })).toBe(2);
  });
});
