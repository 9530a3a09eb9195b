// The step of somebody else's saga and its compensation, in every order.
import { describe, expect, it } from "vitest";
import { PermanentError } from "../../lib/core/errors.ts";
import { resolveOutcome } from "../../lib/core/resolve-outcome.ts";
import { type ParticipantOptions, participant } from "../../lib/saga/participant.ts";
import { fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { intercepted, unreachable } from "../kit/faults/faulty-store.ts";

function given(
  run: (input: string) => unknown = () => undefined,
  options: Partial<ParticipantOptions<string, unknown, MemoryWrite>> = {},
) {
  const clock = fakeClock();
  const log: string[] = [];
  const store = new MemoryStore();
  const reserve = participant<string, unknown, MemoryWrite>({
    operation: "reserve",
    store,
    leaseSeconds: 30,
    renewLease: false,
    clock,
    run: async (input) => {
      const result = await run(input);
      log.push(`run ${input}`);
      return result;
    },
    compensate: (input, result) => void log.push(`undo ${input} ${result}`),
    ...options,
  });
  return { clock, log, store, reserve };
}

describe("a participant", () => {
  it("has its effect once, and gives its result to each call", async () => {
    const { log, reserve } = given(() => 7);

    expect(await reserve.run("order-1", "a")).toEqual({ done: true, result: 7 });
    expect(await reserve.run("order-1", "a")).toEqual({ done: true, result: 7 });
    expect(log).toEqual(["run a"]);
  });

  it("H65: undoes its effect once, with its result, although the requests differ", async () => {
    const { log, reserve } = given(() => 7);
    await reserve.run("order-1", "a");

    await reserve.compensate("order-1", "b");
    await reserve.compensate("order-1", "c");

    expect(log).toEqual(["run a", "undo b 7"]);
    // It isn't done any more.
    expect(await reserve.run("order-1", "a")).toEqual({ done: false });
    expect(log).toHaveLength(2);
  });

  it("H65: undoes nothing that did not happen, and later calls do nothing", async () => {
    const { log, reserve } = given();

    await reserve.compensate("order-1", "a");
    await reserve.compensate("order-1", "a");

    expect(await reserve.run("order-1", "a")).toEqual({ done: false });
    expect(await reserve.run("order-1", "a")).toEqual({ done: false });
    await reserve.compensate("order-1", "a");
    expect(log).toEqual([]);
  });

  it("H65: every order of two steps and two compensations leaves the effect done and undone once, or never done", async () => {
    const orders = ["rrcc", "rcrc", "rccr", "crrc", "crcr", "ccrr", "rc", "cr", "c", "rcc", "crr"];
    for (const order of orders) {
      const { log, reserve } = given();
      for (const each of order) await (each === "r" ? reserve.run("k", "a") : reserve.compensate("k", "a"));

      expect(log).toEqual(order.startsWith("r") ? ["run a", "undo a undefined"] : []);
    }
  });

  it("H65: a compensation waits for an effect that is still running", async () => {
    let finish: (value: unknown) => void = () => {};
    const { log, reserve } = given(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    const first = reserve.run("order-1", "a");

    await expect(reserve.compensate("order-1", "a")).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
    finish(1);
    await first;
    await reserve.compensate("order-1", "a");

    expect(log).toEqual(["run a", "undo a 1"]);
  });

  it("H65: a compensation undoes an effect that may have happened in an attempt that died, and fences that off", async () => {
    let finish: (value: unknown) => void = () => {};
    const { clock, log, reserve } = given(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    const late = reserve.run("order-1", "a");
    await clock.advance(36_000);

    await reserve.compensate("order-1", "a");
    finish(1);

    expect(await late).toEqual({ done: false });
    expect(log).toEqual(["undo a undefined", "run a"]);
  });

  it.each([new Error("again"), new PermanentError("sold out")])(
    "undoes an effect that failed, as a part of it may have happened: %s",
    async (error) => {
      const { log, reserve } = given(() => Promise.reject(error));
      await expect(reserve.run("order-1", "a")).rejects.toThrow(error.message);

      await reserve.compensate("order-1", "a");

      expect(log).toEqual(["undo a undefined"]);
    },
  );

  it("H42: uses the result that its verify, or an operator, reports for its effect", async () => {
    for (const result of [7, undefined, { met: "somebody" }]) {
      const never = () => new Promise(() => {});
      const asks = given(never, { whenAbandoned: () => ({ outcome: "happened", result }) });
      void asks.reserve.run("order-1", "a");
      await asks.clock.advance(36_000);
      const held = given(never, { whenAbandoned: "hold" });
      void held.reserve.run("order-1", "a");
      await held.clock.advance(36_000);
      const { store, clock } = held;
      const about = { outcome: "happened", result, by: "ana", why: "it is there" } as const;
      await resolveOutcome({ operation: "reserve", store, clock }, "order-1", about);

      for (const { reserve, log } of [asks, held]) {
        expect(await reserve.run("order-1", "a")).toEqual({ done: true, result });
        await reserve.compensate("order-1", "a");
        expect(log).toEqual([`undo a ${result}`]);
      }
    }
  });

  it("H42: doesn't call `verify` for an interrupted compensation, and undoes again", async () => {
    let interrupts = true;
    const log: string[] = [];
    const { clock, reserve } = given(() => 7, {
      whenAbandoned: () => ({ outcome: "happened", result: "asked about the effect" }),
      compensate: async (_, result) => {
        log.push(`undo ${result}`);
        if (interrupts) await new Promise(() => {});
      },
    });
    await reserve.run("order-1", "a");
    void reserve.compensate("order-1", "a");
    await clock.advance(36_000);

    interrupts = false;
    await reserve.compensate("order-1", "a");

    expect(log).toEqual(["undo 7", "undo 7"]);
  });

  it("H65: undoes an effect that may have happened, even if the compensation has no claim", async () => {
    const { clock, log, store } = given();
    const failing = intercepted(store, (method, request) =>
      method === "claim" && isDown ? Promise.reject(unreachable()) : request(),
    );
    let isDown = false;
    const { reserve } = given(() => Promise.reject(new Error("again")), {
      store: failing,
      clock,
      whenStoreFails: "run",
      compensate: (_, result) => void log.push(`undo ${result}`),
    });
    await expect(reserve.run("order-1", "a")).rejects.toThrow("again");
    isDown = true;

    await reserve.compensate("order-1", "a");

    expect(log).toEqual(["undo undefined"]);
  });

  it("is rejected without both of its functions", () => {
    expect(() => participant({ operation: "a", store: new MemoryStore(), run: () => 1 } as never)).toThrow(
      "`compensate` must be a function",
    );
  });
});
