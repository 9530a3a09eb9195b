// The caller's own condition refuses a commit while an earlier try of that commit is still under way. The late copy is
// fenced off before the handler learns of the refusal.
import { describe, expect, it } from "vitest";
import {
  RecordCorruptError,
  StoreUnavailableError,
  TransactionConditionError,
} from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { fenceOff } from "../../lib/core/fence.ts";
import { isExpired } from "../../lib/core/record.ts";
import type { Claim } from "../../lib/core/store.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { type Intercept, intercepted, unreachable } from "../kit/faults/faulty-store.ts";
import { newWorld, START, type World } from "./world.ts";

type Work = Execution<MemoryWrite>;

/** The first commit is held up on its way; its copies arrive when `arrive` is called. */
function heldUp(world: World, then: Intercept = (_, request) => request()) {
  const held: (() => Promise<unknown>)[] = [];
  const store = intercepted(world.memory, (method, request, parameters) => {
    const isCommit = method === "insert" || (method === "settle" && isCompletion(parameters));
    if (isCommit && held.length === 0) {
      held.push(request);
      return Promise.reject(unreachable());
    }
    return then(method, request, parameters);
  });
  return { store, arrive: () => held[0]?.() };
}

const isCompletion = ([settlement]: readonly unknown[]) =>
  (settlement as { state?: string }).state === "completed";

describe.each(["claimed", "optimistic"] as const)("answers 8: commit, %s, amid its earlier try", (mode) => {
  const given = (then?: Intercept) => {
    const world = newWorld({ mode, shouldStore: (result) => result !== "sold out" });
    let inStock = false;
    const order = world.orderWrite(() => inStock);
    const buy = async ({ commit }: Work) => {
      try {
        return await commit("ordered", { writes: [order] });
      } catch (error) {
        expect(error).toMatchObject({ code: "TRANSACTION_CONDITION", mayStillApply: false });
        return "sold out";
      }
    };
    const stock = () => {
      inStock = true;
    };
    return { world, buy, stock, ...heldUp(world, then) };
  };

  it("H8: refused by its own condition, is never written by the copy that arrives later", async () => {
    const { world, buy, stock, store, arrive } = given();

    expect(await world.call(buy, { store })).toBe("sold out");
    stock();
    await arrive();

    expect(world.orders()).toBe(0);
    expect(await world.call(buy)).toBe("ordered");
    expect(world.orders()).toBe(1);
  });

  it("H8: counts as done if the copy was written before it could be fenced off", async () => {
    const { world, buy, stock, store, arrive } = given(async (method, request) => {
      if (method === "claim" && world.memory.records.size === (mode === "claimed" ? 1 : 0) && started) {
        stock();
        await arrive();
      }
      return request();
    });
    let started = false;

    const answer = await world.call(
      async (execution) => {
        started = true;
        return buy(execution);
      },
      { store },
    );

    expect(answer).toBe("ordered");
    expect(world.orders()).toBe(1);
    expect(world.record()).toMatchObject({ state: "completed" });
    expect(world.decisions()).toEqual(["store-failed", "executed"]);
  });

  it("lets the handler commit something else, and only that counts", async () => {
    const { world, stock, store, arrive } = given();
    const work = async ({ commit }: Work) => {
      await commit("ordered", { writes: [world.orderWrite(() => false)] }).catch(() => {});
      return commit("noted");
    };

    expect(await world.call(work, { store })).toBe("noted");
    stock();
    await arrive();

    expect(world.orders()).toBe(0);
    expect(await world.call(async () => "never")).toBe("noted");
  });

  it("is unknown, and releases nothing, if it can't be fenced off", async () => {
    for (const failure of ["unreachable", "refused"] as const) {
      let committed = false;
      let error: unknown;
      const { world, buy, store } = given((method, request) => {
        if (method !== "claim" || !committed) return request();
        return Promise.reject(new StoreUnavailableError(failure, new Error("no")));
      });
      const work = async (execution: Work) => {
        committed = true;
        error = await execution
          .commit("ordered", { writes: [world.orderWrite(() => false)] })
          .catch((thrown) => thrown);
        return buy;
      };

      await expect(world.call(work, { store })).rejects.toThrow(StoreUnavailableError);

      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", failure: "unreachable" });
      expect(world.decisions()).not.toContain("released");
      expect(world.decisions()).toContain("outcome-unknown");
    }
  });

  it("knows its own fence again when the answer to it was lost", async () => {
    let fences = 0;
    const { world, buy, store, arrive, stock } = given(async (method, request) => {
      const answer = await request();
      if (method !== "claim" || (mode === "claimed" && fences++ === 0)) return answer;
      if (fences++ < 3) throw unreachable();
      return answer;
    });

    expect(await world.call(buy, { store })).toBe("sold out");
    stock();
    await arrive();

    expect(world.orders()).toBe(0);
  });

  it("answers with another attempt's result if that has finished in between", async () => {
    let committing = false;
    let committed: unknown;
    const { world, buy, store } = given(async (method, request, [claim]) => {
      if (method === "claim" && committing) await finishAsAnother(world, claim as Claim);
      return request();
    });

    const answer = await world.call(
      async (execution) => {
        committing = true;
        committed = await buy(execution);
        return committed;
      },
      { store },
    );

    expect([committed, answer]).toEqual(["winner", "winner"]);
    expect(world.orders()).toBe(0);
  });

  it("needs no fence if the first try was the only one", async () => {
    const world = newWorld({ mode });
    const requests: string[] = [];
    const store = intercepted(world.memory, (method, request) => {
      requests.push(method);
      return request();
    });

    const failed = world.call(({ commit }) => commit("no", { writes: [world.orderWrite(() => false)] }), {
      store,
    });

    await expect(failed).rejects.toThrow(TransactionConditionError);
    expect(requests).toEqual(mode === "claimed" ? ["claim", "settle", "settle"] : ["find", "insert", "find"]);
  });
});

describe("answers 8: commit, optimistic, with an earlier try under way", () => {
  it("keeps its refusal if another attempt holds the key: that attempt refuses the copy", async () => {
    const world = newWorld({ mode: "optimistic", lookFirst: false });
    const { store, arrive } = heldUp(world, async (method, request, [claim]) => {
      if (method === "claim") await world.memory.claim({ ...(claim as Claim), token: "another" });
      return request();
    });
    let allowed = false;

    const failed = world.call(
      ({ commit }) => commit("ordered", { writes: [world.orderWrite(() => allowed)] }),
      { store },
    );

    await expect(failed).rejects.toThrow(TransactionConditionError);
    allowed = true;
    await arrive();
    expect(world.orders()).toBe(0);
    expect(world.record()).toMatchObject({ token: "another", state: "in-progress" });
  });

  it("is unknown if the record changes under every fence, or can't be read", async () => {
    for (const fault of ["changes", "corrupt"] as const) {
      const world = newWorld({ mode: "optimistic", lookFirst: false });
      const { store } = heldUp(world, async (method, request) => {
        if (method !== "claim") return request();
        if (fault === "corrupt") throw new RecordCorruptError("unreadable");
        return { won: false, record: undefined };
      });

      const failed = world.call(
        ({ commit }) => commit("ordered", { writes: [world.orderWrite(() => false)] }),
        { store },
      );

      const error =
        fault === "corrupt"
          ? { code: "RECORD_CORRUPT" }
          : { code: "STORE_UNAVAILABLE", failure: "unreachable", cause: { failure: "conflict" } };
      await expect(failed).rejects.toMatchObject(error);
      expect(world.decisions()).not.toContain("released");
    }
  });

  it("is fenced off under a record that has changed once", async () => {
    const world = newWorld({ mode: "optimistic", lookFirst: false });
    let claims = 0;
    const { store } = heldUp(world, async (method, request) =>
      method === "claim" && claims++ === 0 ? { won: false, record: undefined } : request(),
    );

    const failed = world.call(
      ({ commit }) => commit("ordered", { writes: [world.orderWrite(() => false)] }),
      { store },
    );

    await expect(failed).rejects.toThrow(TransactionConditionError);
    expect(claims).toBe(2);
  });

  it("is fenced off once, however late its refusal comes", async () => {
    const world = newWorld({ mode: "optimistic", lookFirst: false });
    const { store } = heldUp(world, async (method, request) => {
      if (method === "insert") await world.clock.sleep(60_000);
      return request();
    });

    const failed = world.call(
      ({ commit }) => commit("ordered", { writes: [world.orderWrite(() => false)] }),
      { store },
    );

    await expect(world.clock.run(failed)).rejects.toThrow(TransactionConditionError);
  });

  it.each([29_500, 60_000])("H8: claims no fence once the call's time is over: after %d ms", async (ms) => {
    const world = newWorld({ mode: "optimistic", lookFirst: false });
    let claims = 0;
    const { store } = heldUp(world, async (method, request) => {
      if (method !== "claim") return request();
      claims++;
      await world.clock.sleep(START + ms - world.clock.now());
      return { won: false, record: undefined };
    });

    const failed = world.call(
      ({ commit }) => commit("ordered", { writes: [world.orderWrite(() => false)] }),
      { store },
    );

    await expect(world.clock.run(failed)).rejects.toThrow(StoreUnavailableError);
    expect(claims).toBe(1);
  });

  it("H11: is never written by a copy that arrives once the record is gone which refused it first", async () => {
    const world = newWorld({ mode: "optimistic", lookFirst: false, retentionSeconds: 60 });
    await world.call(async () => "old");
    await world.clock.advance(61_000);
    const inserts: (() => Promise<unknown>)[] = [];
    const store = intercepted(world.memory, (method, request) => {
      if (method === "insert") inserts.push(request);
      return request();
    });
    let allowed = false;

    const failed = world.call(
      ({ commit }) => commit("ordered", { writes: [world.orderWrite(() => allowed)] }),
      { store },
    );

    await expect(failed).rejects.toThrow(TransactionConditionError);
    const record = world.record();
    // What TTL would have deleted, had the fence not replaced it.
    if (isExpired(record, world.clock.now()))
      world.memory.alter([...world.memory.records.keys()][0]!, undefined);
    allowed = true;
    await inserts[0]?.();
    expect(world.orders()).toBe(0);
    expect(record).toMatchObject({ state: "released", attempt: 2 });
  });

  it("fences its own claim, whose answers were all lost, as well", async () => {
    const world = newWorld({ whenStoreFails: "run", shouldStore: (result) => result !== "sold out" });
    let claims = 0;
    let allowed = false;
    const { store, arrive } = heldUp(world, async (method, request) => {
      const answer = await request();
      if (method === "claim" && claims++ === 0) throw unreachable();
      return answer;
    });
    const work = async ({ commit }: Work) =>
      commit("ordered", { writes: [world.orderWrite(() => allowed)] }).catch(() => "sold out");

    expect(await world.call(work, { store })).toBe("sold out");
    allowed = true;
    await arrive();

    expect(world.orders()).toBe(0);
    expect(world.record()).toMatchObject({ state: "released" });
  });
});

describe("a commit amid its earlier try, in an attempt with steps,", () => {
  it("H60: keeps them when it's fenced off", async () => {
    const world = newWorld({ shouldStore: (result) => result !== "sold out" });
    const { store } = heldUp(world);
    let charges = 0;
    const handler = async ({ step, commit }: Work) => {
      await step("charge", () => ++charges);
      return commit("ordered", { writes: [world.orderWrite(() => false)] }).catch(() => "sold out");
    };

    expect(await world.call(handler, { store })).toBe("sold out");
    expect(await world.call(handler)).toBe("sold out");
    expect(charges).toBe(1);
  });
});

describe("fenceOff", () => {
  it("fences nothing off after an error that isn't a refused condition, and leaves the error as it is", async () => {
    const error = Object.freeze(new Error("down"));

    await expect(fenceOff({} as never, {} as never, error, () => true)).rejects.toBe(error);
  });
});

/** Takes the key over from whoever has it, and finishes. */
async function finishAsAnother({ memory, clock }: World, claim: Claim): Promise<void> {
  const seen = memory.records.get(claim.recordKey);
  const end = { state: "completed", result: '"winner"', writes: [], messages: [] } as const;
  await memory.insert(
    { ...claim, ...end, token: "winner", now: clock.now(), expiresAt: claim.expiresAt as number },
    seen,
  );
}
