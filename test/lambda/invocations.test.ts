import type { Context } from "aws-lambda";
import { idempotency, idempotent } from "onceonly";
import { fakeLambdaContext } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { describeOnMiddies } from "../kit/middies.ts";
import { given, pausePoint } from "./given.ts";

interface Transfer {
  readonly id: string;
  readonly amount: number;
}
const TRANSFER: Transfer = { id: "t1", amount: 10 };
const key = (event: Transfer) => event.id;

describe("idempotent", () => {
  it("H41: one effect for three deliveries of one event and a duplicate from upstream", async () => {
    const { options, clock } = given();
    const seen: string[] = [];
    const handler = idempotent(
      async (event: Transfer, context) => {
        seen.push(context.idempotency.key);
        if (seen.length === 1) throw new Error("try again");
        return { transferred: event.amount };
      },
      { ...options, key },
    );
    const deliver = (awsRequestId: string) => handler(TRANSFER, fakeLambdaContext({ clock, awsRequestId }));

    await expect(deliver("first")).rejects.toThrow("try again");
    const answers = [await deliver("first"), await deliver("first"), await deliver("upstream duplicate")];

    expect(answers).toEqual([{ transferred: 10 }, { transferred: 10 }, { transferred: 10 }]);
    expect(seen).toEqual(["t1", "t1"]);
  });

  it("H23: refuses an event without a key, and throws the error", async () => {
    const { options, context, store } = given();
    let effects = 0;
    const handler = idempotent(async () => ++effects, { ...options, key });

    await expect(handler({ amount: 10 } as Transfer, context())).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_MISSING",
    });
    await expect(handler({ id: null, amount: 10 } as unknown as Transfer, context())).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_MISSING",
    });
    await expect(handler({ id: 7, amount: 10 } as unknown as Transfer, context())).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_INVALID",
    });
    expect(effects).toBe(0);
    expect(store.records.size).toBe(0);
  });

  it("runs once for each scope", async () => {
    const { options, context } = given();
    let effects = 0;
    const handler = idempotent(async () => ++effects, {
      ...options,
      key: () => "same",
      scope: (event: { tenant?: string }) => event.tenant,
      fingerprint: () => "same",
    });

    const answers = [
      await handler({ tenant: "ann" }, context()),
      await handler({ tenant: "bob" }, context()),
      await handler({ tenant: "ann" }, context()),
    ];

    expect(answers).toEqual([1, 2, 1]);
    await expect(handler({}, context())).rejects.toMatchObject({ code: "SCOPE_MISSING" });
  });

  it.each([1, 1000, 15_000, 29_499, 29_501, 29_999])(
    "H42: is never stuck beyond the lease of an invocation that was killed after %i ms",
    async (killedAfterMs) => {
      const { options, clock, context } = given();
      let runs = 0;
      const handler = idempotent(
        async () => {
          if (++runs === 1) await new Promise(() => {});
          return "done";
        },
        { ...options, key },
      );

      void handler(TRANSFER, context());
      await clock.advance(killedAfterMs);
      await expect(handler(TRANSFER, context())).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
      await clock.advance(35_001 - killedAfterMs);

      expect(await handler(TRANSFER, context())).toBe("done");
    },
  );

  it("H42: aborts the handler's signal while there is time to answer, and does not release after it", async () => {
    const { options, clock, context, states } = given();
    const handler = idempotent(
      async (_event: Transfer, { idempotency }) => {
        await clock.sleep(600_000, idempotency.signal);
        throw idempotency.signal.reason;
      },
      { ...options, key },
    );

    const answer = handler(TRANSFER, context());
    const failure = expect(answer).rejects.toThrow("deadline");
    await clock.advance(29_500);
    await failure;

    expect(states()).toEqual(["in-progress"]);
  });

  it("H43: fences the work of a frozen environment that continues after another one has taken over", async () => {
    const { options, clock, context, store } = given();
    const frozen = pausePoint();
    const write = (by: string) => ({ writes: [{ table: "transfers", key: "t1", item: { by } }] });
    let runs = 0;
    const handler = idempotent(
      async (_event: Transfer, { idempotency }) => {
        const by = `run ${++runs}`;
        if (runs === 1) await frozen.pause();
        return idempotency.commit(by, write(by));
      },
      { ...options, key },
    );

    const first = handler(TRANSFER, context());
    await frozen.reached;
    await clock.advance(600_000);
    const second = await handler(TRANSFER, context());
    frozen.resume();

    expect(second).toBe("run 2");
    expect(await first).toBe("run 2");
    expect(store.table("transfers").get("t1")).toEqual({ by: "run 2" });
  });

  it("H43: refuses a commit that was not awaited and wakes up in a later invocation", async () => {
    const { options, clock, context, store } = given();
    const frozen = pausePoint();
    let late: Promise<unknown> | undefined;
    const handler = idempotent(
      async (_event: Transfer, { idempotency }) => {
        late = frozen
          .pause()
          .then(() => idempotency.commit("late", { writes: [{ table: "transfers", key: "t1", item: {} }] }));
        return "returned";
      },
      { ...options, key },
    );

    await handler(TRANSFER, context());
    await clock.advance(600_000);
    frozen.resume();

    await expect(late).rejects.toMatchObject({ code: "COMMIT_INVALID" });
    expect(store.table("transfers").size).toBe(0);
  });

  it("needs a lease if the context has no remaining time", async () => {
    const { options } = given();
    const handlerFor = (leaseSeconds?: number) =>
      idempotent(async () => "done", { ...options, key, leaseSeconds });

    await expect(handlerFor()(TRANSFER, {} as Context)).rejects.toThrow("`leaseSeconds`");
    expect(await handlerFor(30)(TRANSFER, undefined as unknown as Context)).toBe("done");
  });

  it("keeps what else is in the context, also its accessors, and adds nothing to the caller's own", async () => {
    const { options, clock } = given();
    let waits = true;
    const context = Object.defineProperty(
      fakeLambdaContext({ clock, functionName: "mine" }),
      "callbackWaitsForEmptyEventLoop",
      {
        get: () => waits,
        set: (value: boolean) => {
          waits = value;
        },
      },
    );
    const handler = idempotent(
      async (_event: Transfer, ctx, signal: string) => {
        ctx.callbackWaitsForEmptyEventLoop = false;
        return [ctx.functionName, ctx.getRemainingTimeInMillis(), signal];
      },
      { ...options, key },
    );

    expect(await handler(TRANSFER, context, "rest")).toEqual(["mine", 30_000, "rest"]);
    expect(waits).toBe(false);
    expect("idempotency" in context).toBe(false);
  });

  it("derives its identity from the unchanged event, whatever the handler does to it", async () => {
    const { options, context } = given();
    let effects = 0;
    const handler = idempotent(
      async (event: { id: string; amount: number }) => {
        event.amount = 0;
        event.id = "other";
        return ++effects;
      },
      { ...options, key },
    );

    expect([await handler({ ...TRANSFER }, context()), await handler({ ...TRANSFER }, context())]).toEqual([
      1, 1,
    ]);
  });
});

describeOnMiddies("idempotency", (middy) => {
  it("H44: two concurrent invocations in one environment, with one context, see their own keys only", async () => {
    const { options, context } = given();
    const both = [pausePoint(), pausePoint()];
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .after(async (request) => {
        await both[request.event.amount]?.pause();
        request.response = `${request.response} ${request.context.idempotency.key}`;
      })
      .handler(async (event: Transfer, { idempotency }) => {
        await Promise.resolve();
        return `${event.id} ${idempotency.key}`;
      });
    const shared = context();

    const answers = [handler({ id: "a", amount: 0 }, shared), handler({ id: "b", amount: 1 }, shared)];
    await Promise.all(both.map((point) => point.reached));
    for (const point of both.reverse()) point.resume();

    expect(await Promise.all(answers)).toEqual(["a a a", "b b b"]);
    expect("idempotency" in shared).toBe(false);
  });
});
