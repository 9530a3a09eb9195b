// What users of Powertools rely on and find unchanged: each test runs on both packages.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { errorOf, type Handler, newContext, onceonly, type Package, powertools } from "./world.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const ORDER = { id: "order-1", cents: 500 };

describe.each([
  ["Powertools", powertools],
  ["onceonly", onceonly],
])("%s", (_, setUp) => {
  let peer: Package;
  let runs: number;
  const charge: Handler = async ({ id }) => ({ id, run: ++runs });

  beforeEach(async () => {
    vi.useFakeTimers({ now: START, toFake: ["Date"] });
    peer = await setUp();
    runs = 0;
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  describe.each(["wrap", "use"] as const)("by %s", (adapter) => {
    const deploy = (...parameters: Parameters<Package["wrap"]>) => peer[adapter](...parameters);

    it("runs once for a key and gives every caller the first result", async () => {
      const handler = deploy(charge);

      const answers = [
        await handler(ORDER, newContext()),
        await handler(ORDER, newContext()),
        await handler({ ...ORDER, id: "order-2" }, newContext()),
      ];

      expect(answers).toEqual([
        { id: "order-1", run: 1 },
        { id: "order-1", run: 1 },
        { id: "order-2", run: 2 },
      ]);
    });

    it("does not count what is neither key nor validated payload", async () => {
      const handler = deploy(charge);
      await handler({ ...ORDER, note: "first" }, newContext());

      expect(await handler({ ...ORDER, note: "second" }, newContext())).toEqual({ id: "order-1", run: 1 });
    });

    it("refuses another payload under a known key, once the first call is done", async () => {
      const handler = deploy(charge);
      await handler(ORDER, newContext());

      expect(await errorOf(handler({ ...ORDER, cents: 501 }, newContext()))).toBe(peer.errors.mismatch);
      expect(runs).toBe(1);
    });

    it("refuses a duplicate while the first call is in progress", async () => {
      let finish = () => {};
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      let begin = () => {};
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const handler = deploy(async () => {
        begin();
        await finished;
        return ++runs;
      });
      const first = handler(ORDER, newContext());
      await begun;

      expect(await errorOf(handler(ORDER, newContext()))).toBe(peer.errors.inProgress);

      finish();
      expect([await first, await handler(ORDER, newContext())]).toEqual([1, 1]);
    });

    it("throws what the handler threw, and a retry runs", async () => {
      const failure = new TypeError("the gateway is down");
      const handler = deploy(async () => {
        if (++runs === 1) throw failure;
        return runs;
      });

      await expect(handler(ORDER, newContext())).rejects.toBe(failure);
      expect([await handler(ORDER, newContext()), await handler(ORDER, newContext())]).toEqual([2, 2]);
    });

    it("keeps a caught error that is returned as a result", async () => {
      const handler = deploy(async () => ({ failed: ++runs }));

      const answers = [await handler(ORDER, newContext()), await handler(ORDER, newContext())];

      expect(answers).toEqual([{ failed: 1 }, { failed: 1 }]);
    });

    it("runs again when the record has expired, whether or not TTL has deleted it", async () => {
      const handler = deploy(charge, { expiresAfterSeconds: 60 });
      await handler(ORDER, newContext());
      vi.setSystemTime(START + 59_000);
      await handler(ORDER, newContext());
      expect(runs).toBe(1);

      vi.setSystemTime(START + 62_000);

      expect(await handler(ORDER, newContext())).toEqual({ id: "order-1", run: 2 });
    });

    it("runs again when the time of an invocation that never answered is over", async () => {
      const handler = deploy(async () => {
        if (++runs === 1) await new Promise(() => {});
        return runs;
      });
      void handler(ORDER, newContext(10_000));
      await vi.waitFor(() => expect(runs).toBe(1));
      expect(await errorOf(handler(ORDER, newContext()))).toBe(peer.errors.inProgress);

      // onceonly adds the difference that clocks may have: 5 seconds.
      vi.setSystemTime(START + 15_001);

      expect(await handler(ORDER, newContext())).toBe(2);
    });

    it("keeps operations apart by their name", async () => {
      const [one, other] = [deploy(charge, { name: "charge" }), deploy(charge, { name: "refund" })];

      const answers = [await one(ORDER, newContext()), await other(ORDER, newContext())];

      expect(answers).toMatchObject([{ run: 1 }, { run: 2 }]);
    });

    it("refuses an event without a key, where that is asked for", async () => {
      expect(await errorOf(deploy(charge)({ cents: 500 }, newContext()))).toBe(peer.errors.keyMissing);
      expect([runs, await peer.items()]).toEqual([0, []]);
    });

    it("runs an event without a key each time, where that is asked for", async () => {
      const handler = deploy(charge, { runsWithoutKey: true });

      await handler({ cents: 500 }, newContext());
      await handler({ cents: 500 }, newContext());

      expect(runs).toBe(2);
    });

    it("keeps its records in a table with a sort key", async () => {
      const handler = deploy(charge, { hasSortKey: true });

      const answers = [await handler(ORDER, newContext()), await handler(ORDER, newContext())];

      expect(answers).toMatchObject([{ run: 1 }, { run: 1 }]);
      expect(await peer.items()).toHaveLength(1);
    });
  });

  it.each([[undefined], [null], [false], [0], [""], [[]]])(
    "replays %j from a wrapped function",
    async (result) => {
      const handler = peer.wrap(async () => {
        runs++;
        return result;
      });

      const answers = [await handler(ORDER, newContext()), await handler(ORDER, newContext())];

      expect([answers, runs]).toEqual([[result, result], 1]);
    },
  );

  it("leaves the record of a function alone when its caller fails later", async () => {
    const inner = peer.wrap(charge);
    const outer: Handler = async (event, context) => {
      await inner(event, context);
      throw new Error("later");
    };

    await expect(outer(ORDER, newContext())).rejects.toThrow("later");
    await expect(outer(ORDER, newContext())).rejects.toThrow("later");

    expect(runs).toBe(1);
  });

  it("records nothing when a middleware before it fails", async () => {
    const handler = peer.use(charge, {}, () => {
      throw new Error("not authenticated");
    });

    await expect(handler(ORDER, newContext())).rejects.toThrow("not authenticated");
    expect(await peer.items()).toEqual([]);
  });
});
