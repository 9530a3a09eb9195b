// An error says which key it is about: a adapter must not answer a call with the trouble of another operation.
import { describe, expect, it } from "vitest";
import {
  CommitInvalidError,
  ExecutionInProgressError,
  PermanentError,
  StoreUnavailableError,
} from "../../lib/core/errors.ts";
import { failing } from "../kit/faults/faulty-store.ts";
import { newWorld } from "./world.ts";

const caught = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error) => error,
  );

describe("keyHash of an error", () => {
  it("names the key of the call that was refused", async () => {
    const world = newWorld();
    await world.call(async () => "done");

    const error = await caught(world.call(async () => "never", {}, { input: "other" }));

    expect(error).toMatchObject({ code: "FINGERPRINT_MISMATCH", keyHash: world.events[0]?.keyHash });
  });

  it("names the key whose commit failed", async () => {
    const world = newWorld();

    const error = await caught(
      world.call(({ commit }) => commit(1, { writes: [world.orderWrite(() => false)] })),
    );
    const invalid = await caught(world.call(({ commit }) => commit(1, { writes: [null as never] })));

    expect(error).toMatchObject({ code: "TRANSACTION_CONDITION", keyHash: world.events[0]?.keyHash });
    expect(invalid).toBeInstanceOf(CommitInvalidError);
    expect(invalid).toMatchObject({ keyHash: world.events[0]?.keyHash });
  });

  it("is left out if a store's error can't be changed; that error is thrown as it is", async () => {
    const world = newWorld();
    const frozen = Object.freeze(new StoreUnavailableError("throttled", new Error("slow down")));
    const store = failing(world.memory, "claim", "before", { error: () => frozen });

    expect(await caught(world.call(async () => "never", { store }))).toBe(frozen);
    expect(frozen).not.toHaveProperty("keyHash");
  });

  it("stays that of an inner operation on its way through the outer one", async () => {
    const world = newWorld();
    world.start(() => new Promise(() => {}), {}, { key: "inner" });
    await world.clock.advance(0);
    const inner = () => world.start(async () => "never", {}, { key: "inner" });

    const error = await caught(world.call(inner, {}, { key: "outer" }));

    const [refused, released] = world.events;
    expect([refused?.decision, released?.decision]).toEqual(["in-progress", "released"]);
    expect(error).toBeInstanceOf(ExecutionInProgressError);
    expect(error).toMatchObject({ keyHash: refused?.keyHash });
    expect(refused?.keyHash).not.toBe(released?.keyHash);
  });

  it("is not added to errors that the work created itself", async () => {
    const world = newWorld();

    const error = await caught(world.call(() => Promise.reject(new ExecutionInProgressError(7))));

    expect(error).not.toHaveProperty("keyHash");
  });

  it.each([new TypeError("own"), Object.freeze(new Error("frozen")), "text", undefined])(
    "is added to this package's errors only: other errors stay as they are (%s)",
    async (thrown) => {
      const error = await caught(newWorld().call(() => Promise.reject(thrown)));

      expect(error).toBe(thrown);
      expect(Object(error)).not.toHaveProperty("keyHash");
    },
  );

  it("is not part of the stored and replayed error", async () => {
    const world = newWorld();
    await caught(world.call(() => Promise.reject(new PermanentError("no"))));

    const replayed = await caught(world.call(async () => "never"));

    expect(JSON.stringify(world.record())).not.toContain("keyHash");
    expect(replayed).toMatchObject({ message: "no" });
    expect(replayed).not.toHaveProperty("keyHash");
  });
});
