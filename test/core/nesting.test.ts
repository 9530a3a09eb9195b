import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import type { Work } from "../../lib/core/attempt.ts";
import { NestedExecutionError } from "../../lib/core/errors.ts";
import { identify } from "../../lib/core/identity.ts";
import { asyncContext, Nesting } from "../../lib/core/nesting.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { gate } from "../kit/time/gate.ts";
import { newWorld } from "./world.ts";

const one = { identity: identify("pay", "tenant", "one") };
const two = { identity: identify("pay", "tenant", "two") };

describe("nested operations", () => {
  it("H51: an operation inside itself with the same key errors clearly, and the outer one is released", async () => {
    const world = newWorld();
    const outer: Work<MemoryWrite> = (within) => world.start(async () => "inner", {}, { within });

    await expect(world.call(outer)).rejects.toThrow(NestedExecutionError);
    await expect(world.call(outer)).rejects.toThrow('operation "create-order" runs inside itself');

    expect(world.record().state).toBe("released");
  });

  it("H51: notices it through another operation, and in both modes", async () => {
    for (const mode of ["claimed", "optimistic"] as const) {
      const world = newWorld({ mode });
      const inner: Work<MemoryWrite> = (within) => world.start(async () => "innermost", {}, { within });
      const outer: Work<MemoryWrite> = async (within) =>
        (await world.start(inner, {}, { key: "key-2", within })).result;

      await expect(world.call(outer)).rejects.toThrow(NestedExecutionError);
    }
  });

  it("H51: inner operations with a different key, scope or operation run", async () => {
    const world = newWorld();
    const work: Work<MemoryWrite> = async (within) =>
      Promise.all([
        world.start(async () => "key", {}, { key: "key-2", within }),
        world.start(async () => "scope", {}, { scope: "tenant-2", within }),
        world.start(async () => "operation", { operation: "charge" }, { within }),
      ]).then((outcomes) => outcomes.map(({ result }) => result));

    expect(await world.call(work)).toEqual(["key", "scope", "operation"]);
  });

  it("H51: work that an operation leaves running may start it again later", async () => {
    const world = newWorld();
    const { opened, open } = gate();
    let later: Promise<unknown> | undefined;
    await world.call(async (within) => {
      later = opened.then(() => world.start(async () => "never", {}, { within }));
      return "first";
    });

    open();

    expect(await later).toMatchObject({ replayed: true, result: "first" });
  });

  it("H51: a second call next to the first one is not nested", async () => {
    const world = newWorld();
    const { opened, open } = gate<string>();
    const first = world.start(() => opened);
    await world.clock.advance(0);

    await expect(world.call(async () => "second")).rejects.toThrow("in progress");
    open("first");

    expect((await first).result).toBe("first");
  });
});

describe("Nesting without an async context", () => {
  it.each([undefined, null, "pay", {}])("doesn't treat %j as an execution", (within) => {
    const nesting = new Nesting(undefined);

    expect(() => nesting.refuse({ ...one, within })).not.toThrow();
  });

  it("H51: knows what runs by its execution, until that is over", async () => {
    const nesting = new Nesting(undefined);
    const execution = {};

    await nesting.run(execution, one, async () => {
      expect(() => nesting.refuse({ ...one, within: execution })).toThrow(NestedExecutionError);
      nesting.refuse({ ...two, within: execution });
      nesting.refuse(one);
    });

    nesting.end(execution);
    nesting.refuse({ ...one, within: execution });
  });

  it("knows nothing about operations that ended before or never began", async () => {
    const nesting = new Nesting(undefined);
    const execution = {};

    await nesting.run(execution, one, async () => {
      nesting.end(execution);
      nesting.end({});
      nesting.refuse({ ...one, within: execution });
    });

    expect(nesting.runPart({}, () => "part")).toBe("part");
  });
});

describe("Nesting with an async context", () => {
  it("H51: knows what runs even if no execution is passed on, and nothing about what runs next to it", async () => {
    const nesting = new Nesting(new AsyncLocalStorage());
    const { opened, open } = gate();

    const running = nesting.run({}, one, async () => {
      await opened;
      return nesting.run({}, two, async () => {
        for (const nested of [one, two]) expect(() => nesting.refuse(nested)).toThrow(NestedExecutionError);
      });
    });
    nesting.refuse(one);
    open();
    await running;

    nesting.refuse(one);
  });

  it("H51: follows work that begins elsewhere, and forgets it when it is over", async () => {
    const nesting = new Nesting(new AsyncLocalStorage());
    const execution = {};
    const { opened: over, open: finish } = gate();
    const { opened: later, open: goOn } = gate();

    const running = nesting.run(execution, one, () => over);
    const part = nesting.runPart(execution, async () => {
      expect(() => nesting.refuse(one)).toThrow(NestedExecutionError);
      await later;
      nesting.refuse(one);
    });
    finish();
    await running;
    nesting.end(execution);
    goOn();

    await part;
  });

  it("H51: an execution that is passed on counts along with the one around it", async () => {
    const nesting = new Nesting(new AsyncLocalStorage());
    const handedOn = {};

    await nesting.run(handedOn, one, () =>
      nesting.run({}, two, async () => {
        const start = { within: handedOn };
        for (const nested of [one, two])
          expect(() => nesting.refuse({ ...start, ...nested })).toThrow(NestedExecutionError);
      }),
    );
  });
});

describe("asyncContext", () => {
  it.each(["24.0.0", "26.10.0"])("exists on Node %s", (version) => {
    expect(asyncContext(version)).toBeInstanceOf(AsyncLocalStorage);
  });

  it.each(["20.19.0", "22.22.0"])(
    "is absent on Node %s, because it slows down every promise there",
    (version) => {
      expect(asyncContext(version)).toBeUndefined();
    },
  );
});
