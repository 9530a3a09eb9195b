// What is stored and replayed: values, errors, and results that cannot be kept.
import { describe, expect, it } from "vitest";
import { PermanentError, RecordCorruptError, ResultNotKeptError } from "../../lib/core/errors.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { newWorld } from "./world.ts";

describe("perform, claimed", () => {
  it("reports what is replayed, and what the work itself returned", async () => {
    const world = newWorld();
    const value = { a: 1, b: undefined };

    const first = await world.start(async () => value);
    const replay = await world.start(async () => "never");

    expect(first).toStrictEqual({ replayed: false, result: { a: 1 }, original: value });
    expect(first.original).toBe(value);
    expect(replay).toStrictEqual({ replayed: true, result: { a: 1 } });
  });

  it.each(["claimed", "optimistic"] as const)(
    "%s: a value that is returned brings nothing else about",
    async (mode) => {
      const world = newWorld({ mode });
      const finished: unknown[] = [];
      const store = intercepted(world.memory, (method, request, [parameter]) => {
        if (method === "settle" || method === "insert") finished.push(parameter);
        return request();
      });

      await world.call(async () => "done", { store });

      expect(finished).toMatchObject([{ state: "completed", writes: [], messages: [] }]);
    },
  );

  it("replays a final error with its name, message, code and status", async () => {
    const world = newWorld();
    const final = Object.assign(new PermanentError("sold out"), { name: "SoldOut", statusCode: 410 });
    const work = () => Promise.reject(final);

    await expect(world.call(work)).rejects.toBe(final);
    await expect(world.call(async () => "never")).rejects.toMatchObject({
      name: "SoldOut",
      message: "sold out",
      statusCode: 410,
      code: "PERMANENT",
    });
    expect(world.decisions()).toEqual(["executed", "replayed"]);
  });

  it("replays what isFinalError calls final, even from work that throws immediately", async () => {
    const world = newWorld({ isFinalError: (error) => error instanceof TypeError });

    const work = () => {
      throw new TypeError("bad order");
    };
    await expect(world.call(work)).rejects.toThrow(TypeError);

    await expect(world.call(async () => "never")).rejects.toMatchObject({ name: "TypeError" });
  });

  it("H15: an operation whose result was too large to keep does not run again, and reports it", async () => {
    const world = newWorld({}, { maxResultBytes: 5000 });
    let runs = 0;
    const work = async () => "x".repeat(++runs * 10_000);

    expect(await world.call(work)).toHaveLength(10_000);
    await expect(world.call(work)).rejects.toThrow(ResultNotKeptError);
    await expect(world.call(work)).rejects.toMatchObject({ bytes: 10_002, code: "RESULT_NOT_KEPT" });

    expect(runs).toBe(1);
  });

  it("H15: a result of 1 MB is kept and replayed if the store has room", async () => {
    const world = newWorld();
    const work = async () => "x".repeat(2 ** 20);

    expect(await world.call(work)).toBe(await world.call(work));
    expect(world.decisions()).toEqual(["executed", "replayed"]);
  });

  it("fails closed when the item that holds a result is gone", async () => {
    const world = newWorld();
    let runs = 0;
    await world.call(async () => "x".repeat(++runs * 2000));
    world.memory.alter([...world.memory.records.keys()][0]!, { result: { in: "item", address: "gone" } });

    await expect(world.call(async () => ++runs)).rejects.toThrow(RecordCorruptError);
    expect(runs).toBe(1);
  });

  it("H16: a result that cannot be stored is refused for every caller, and never made again", async () => {
    const world = newWorld();
    let runs = 0;
    const work = async () => ({ run: ++runs, at: new Date(0) });

    await expect(world.call(work)).rejects.toMatchObject({ name: "ResponseNotStorableError" });
    await expect(world.call(work)).rejects.toMatchObject({ name: "ResponseNotStorableError" });

    expect(runs).toBe(1);
  });

  it("refuses the value that the SDK returns for a suspended durable execution, which would be replayed for ever", async () => {
    const world = newWorld();

    await expect(world.call(async () => ({ Status: "PENDING" }))).rejects.toThrow(
      /durable execution is suspended.*onceonly\/durable/,
    );
    expect(await world.call(async () => ({ Status: "SUCCEEDED" }), {}, { key: "key-2" })).toBeTruthy();
  });

  it("H16: an error of the adapter that encodes the result does not make the work run again", async () => {
    const world = newWorld();
    const toStored = () => {
      throw new TypeError("no status");
    };
    let runs = 0;

    await expect(world.call(async () => ++runs, {}, { toStored })).rejects.toThrow("no status");
    await expect(world.call(async () => ++runs, {}, { toStored })).rejects.toThrow("no status");

    expect(runs).toBe(1);
  });

  it("stores and returns the adapter's version of the value", async () => {
    const world = newWorld();
    const toStored = (value: unknown) => ({ body: value });

    expect(await world.call(async () => 1, {}, { toStored })).toEqual({ body: 1 });
    expect(await world.call(async () => 2, {}, { toStored })).toEqual({ body: 1 });
  });
});
