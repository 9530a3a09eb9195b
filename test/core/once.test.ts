// The engine as a standard decorator.
import { describe, expect, it } from "vitest";
import type { Execution } from "../../lib/core/execution.ts";
import { type OnceOptions, once } from "../../lib/core/once.ts";
import { fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";

interface Order {
  readonly id: string;
  readonly cents: number;
}

function payments(change: Partial<OnceOptions<[Order], MemoryWrite>> = {}) {
  const store = new MemoryStore();
  class Payments {
    runs = 0;
    readonly name = "payments";

    @once<[Order], MemoryWrite>({
      operation: "charge",
      store,
      key: (order) => order.id,
      leaseSeconds: 30,
      clock: fakeClock(),
      ...change,
    })
    async charge(order: Order, own?: Execution<MemoryWrite>) {
      this.runs++;
      if (order.cents < 0) throw new Error("no such price");
      return { charged: order.cents, by: this.name, key: own?.key, scope: own?.scope, attempt: own?.attempt };
    }
  }
  return { payments: new Payments(), store };
}

describe("once", () => {
  it("runs a method once per key, with its `this` and an execution, and replays its result", async () => {
    const { payments: service } = payments();
    const order = { id: "o1", cents: 500 };

    const first = await service.charge(order);
    const second = await service.charge({ ...order });
    await service.charge({ id: "o2", cents: 1 });

    expect(first).toEqual({ charged: 500, by: "payments", key: "o1", scope: "", attempt: 1 });
    expect(second).toEqual(first);
    expect(service.runs).toBe(2);
  });

  it("refuses other arguments under the same key", async () => {
    const { payments: service } = payments();
    await service.charge({ id: "o1", cents: 500 });

    await expect(service.charge({ id: "o1", cents: 501 })).rejects.toMatchObject({
      code: "FINGERPRINT_MISMATCH",
    });
  });

  it("fingerprints what `fingerprint` takes of the arguments", async () => {
    const { payments: service } = payments({ fingerprint: ([{ id }]) => id });
    await service.charge({ id: "o1", cents: 500 });

    expect(await service.charge({ id: "o1", cents: 501 })).toMatchObject({ charged: 500 });
  });

  it("runs again after an error, with a higher attempt", async () => {
    const { payments: service } = payments({ fingerprint: ([{ id }]) => id });

    await expect(service.charge({ id: "o1", cents: -1 })).rejects.toThrow("no such price");

    expect(await service.charge({ id: "o1", cents: 5 })).toMatchObject({ charged: 5, attempt: 2 });
  });

  it("takes the owner of the key from the arguments, and refuses a call without one", async () => {
    const { payments: service } = payments({
      scope: ({ id }) => (id === "nobody's" ? undefined : `of ${id}`),
    });

    expect(await service.charge({ id: "o1", cents: 5 })).toMatchObject({ scope: "of o1" });
    await expect(service.charge({ id: "nobody's", cents: 5 })).rejects.toMatchObject({
      code: "SCOPE_MISSING",
    });
  });

  it.each([
    [{ key: "id" }, "option `key` must be a function"],
    [{ scope: "tenant" }, "option `scope` must be a function"],
    [{ operation: "" }, "option `operation`"],
    [{ keys: 1 }, "option `keys` is unknown"],
  ])("refuses options where the class is defined: %j", (change, message) => {
    expect(() => payments(change as object)).toThrow(message);
  });

  it("refuses a method without options", () => {
    expect(() => once(undefined as never)).toThrow("option `key`");
  });
});
