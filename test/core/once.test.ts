// The engine as a decorator; test/package/decorators.test.ts has it as compilers call it.
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

  it("fingerprints what `fingerprint` returns for the arguments", async () => {
    const { payments: service } = payments({ fingerprint: ([{ id }]) => id });
    await service.charge({ id: "o1", cents: 500 });

    expect(await service.charge({ id: "o1", cents: 501 })).toMatchObject({ charged: 500 });
  });

  it("runs again after an error, with a higher attempt", async () => {
    const { payments: service } = payments({ fingerprint: ([{ id }]) => id });

    await expect(service.charge({ id: "o1", cents: -1 })).rejects.toThrow("no such price");

    expect(await service.charge({ id: "o1", cents: 5 })).toMatchObject({ charged: 5, attempt: 2 });
  });

  it("reads the key's owner from the arguments, and rejects a call without one", async () => {
    const { payments: service } = payments({
      scope: ({ id }) => (id === "anonymous" ? undefined : id === "empty" ? "" : `of ${id}`),
    });

    expect(await service.charge({ id: "o1", cents: 5 })).toMatchObject({ scope: "of o1" });
    for (const id of ["anonymous", "empty"])
      await expect(service.charge({ id, cents: 5 })).rejects.toMatchObject({ code: "SCOPE_MISSING" });
  });

  it.each([
    [{ key: "id" }, "`key` must be a function"],
    [{ scope: "tenant" }, "`scope` must be a function"],
    [{ operation: "" }, "`operation`"],
    [{ keys: 1 }, "`keys` isn't an option"],
  ])("rejects options when the class is defined: %j", (change, message) => {
    expect(() => payments(change as object)).toThrow(message);
  });

  describe("A11: arguments that are left out", () => {
    interface Given {
      readonly note?: unknown;
      readonly own: string | undefined;
    }
    const store = new MemoryStore();
    let runs = 0;
    let ids = 10;
    const byId = (operation: string) =>
      once<[Order, (string | undefined)?], MemoryWrite>({
        operation,
        store,
        key: (order) => order.id,
        leaseSeconds: 30,
        clock: fakeClock(),
      });
    type Own = Execution<MemoryWrite>;
    class Shop {
      @once<[Order], MemoryWrite>({ operation: "own", store, key: ({ id }) => id, leaseSeconds: 30 })
      async own(_order: Order, own?: Own): Promise<Given> {
        runs++;
        return { own: own?.key };
      }

      @byId("noted")
      async noted(_order: Order, note?: string, own?: Own): Promise<Given> {
        runs++;
        return { ...(note !== undefined && { note }), own: own?.key };
      }

      @byId("default")
      async defaulting(_order: Order, note = "none", own?: Own): Promise<Given> {
        runs++;
        return { note, own: own?.key };
      }

      @byId("rest")
      async rest(...all: readonly unknown[]): Promise<Given> {
        runs++;
        return { note: all.length, own: (all.at(-1) as Own).key };
      }
    }
    const shop = new Shop();
    const call = (method: keyof Shop, id: string, ...more: readonly unknown[]) =>
      (shop[method] as (...given: readonly unknown[]) => Promise<Given>)({ id, cents: 1 }, ...more);

    it.each([
      ["own", [], {}],
      ["own", [undefined], {}],
      ["noted", [], {}],
      ["noted", [undefined], {}],
      ["noted", [undefined, undefined], {}],
      ["noted", ["gift"], { note: "gift" }],
      ["noted", ["gift", undefined], { note: "gift" }],
      ["defaulting", [undefined], { note: "none" }],
      ["defaulting", ["gift"], { note: "gift" }],
      ["rest", ["gift"], { note: 3 }],
    ] as const)("%s(order, ...%j): the execution has its own parameter", async (method, more, given) => {
      const id = `${++ids}`;

      expect(await call(method, id, ...more)).toEqual({ ...given, own: id });
    });

    it.each(["own", "noted", "defaulting"] as const)(
      "%s: a trailing undefined doesn't change the payload",
      async (method) => {
        runs = 0;
        const first = await call(method, "2", undefined);

        expect(await call(method, "2", ...(method === "defaulting" ? [undefined] : []))).toEqual(first);
        expect(await call(method, "2", undefined, undefined)).toEqual(first);
        expect(runs).toBe(1);
      },
    );

    it("refuses an undefined between two arguments, whose payload JSON can't hold", async () => {
      await expect(call("rest", "3", undefined, "gift")).rejects.toMatchObject({ code: "PAYLOAD_INVALID" });
    });
  });

  it("refuses a method without options", () => {
    expect(() => once(undefined as never)).toThrow("`key`");
  });
});
