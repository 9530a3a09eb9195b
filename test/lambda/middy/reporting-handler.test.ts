import type middy6 from "@middy/core";
import { httpIdempotency, idempotency, idempotent, PermanentError } from "onceonly";
import { describe, expect, it } from "vitest";
import { describeOnMiddies } from "../../kit/middies.ts";
import { given, pausePoint } from "../given.ts";
import { v2Event } from "../http/given.ts";

const EVENT = { key: "k1" };
const key = (event: typeof EVENT) => event.key;
/** Leaves 10 ms of the context's 30 s, because Middy's own timer is a real one. */
const timeoutEarlyInMillis = 29_990;

const OWN_ANSWERS = [
  ["a value", () => "timed out"],
  [
    "an error of its own",
    () => {
      throw new Error("timed out");
    },
  ],
] as const;

describeOnMiddies("idempotency().handler", (middy) => {
  /** A stack whose handler is held, until the test says what it comes to. */
  function heldStack(timeoutEarlyResponse: () => unknown, inner: readonly middy6.MiddlewareObj[] = []) {
    const { options, context, ...rest } = given();
    const held = pausePoint();
    let end = (): unknown => "late";
    let runs = 0;
    const once = idempotency({ ...options, key });
    const handler = middy({
      timeoutEarlyInMillis,
      timeoutEarlyResponse: timeoutEarlyResponse as () => void,
    })
      .use(once)
      .use([...inner])
      .handler(
        once.handler(async () => {
          if (++runs > 1) return "second";
          await held.pause();
          return end();
        }),
      );
    const call = () => handler(EVENT, context()).catch((error: Error) => error.message);
    const goOn = async (comesTo: () => unknown) => {
      end = comesTo;
      held.resume();
      await rest.clock.advance(0);
    };
    return { call, goOn, runs: () => runs, ...rest };
  }

  describe.each(OWN_ANSWERS)("when Middy times out early with %s", (_, timeoutEarlyResponse) => {
    it("H42: leaves the outcome open, and records what the handler returns later", async () => {
      const { call, goOn, states, decisions, runs } = heldStack(timeoutEarlyResponse);

      expect(await call()).toBe("timed out");
      expect([states(), decisions()]).toEqual([["in-progress"], ["outcome-unknown"]]);
      expect(await call()).toContain("in progress");
      await goOn(() => "late");

      expect(await call()).toBe("late");
      expect(runs()).toBe(1);
      expect(decisions()).toEqual(["outcome-unknown", "in-progress", "executed", "replayed"]);
    });

    it("H42: records a final error that the handler throws later, and releases after any other", async () => {
      const final = heldStack(timeoutEarlyResponse);
      const other = heldStack(timeoutEarlyResponse);

      for (const [{ call, goOn }, error] of [
        [final, new PermanentError("sold out")],
        [other, new Error("broken")],
      ] as const) {
        await call();
        await goOn(() => {
          throw error;
        });
      }

      expect([await final.call(), final.runs()]).toEqual(["sold out", 1]);
      expect([await other.call(), other.runs()]).toEqual(["second", 2]);
    });

    it("H42: a late result changes nothing once another attempt has taken over", async () => {
      const { call, goOn, clock, decisions, store } = heldStack(timeoutEarlyResponse);
      await call();
      await clock.advance(36_000);

      expect(await call()).toBe("second");
      const records = [...store.records.values()];
      await goOn(() => "late");

      expect([...store.records.values()]).toEqual(records);
      expect(decisions()).toContain("claim-lost");
      expect(await call()).toBe("second");
    });

    it("H42: error hooks that change it have no effect", async () => {
      const inner = { onError: () => "handled", after: () => "shaped" };
      const { call, goOn, states } = heldStack(timeoutEarlyResponse, [inner]);

      expect(["handled", "shaped"]).toContain(await call());
      expect(states()).toEqual(["in-progress"]);
      await goOn(() => "late");

      expect(await call()).toBe("late");
    });
  });

  it("records what the handler returned when an early timeout wins over it in the same moment", async () => {
    const { options, context } = given();
    for (const answer of ["timed out", undefined]) {
      const held = pausePoint();
      const over = pausePoint();
      const once = idempotency({ ...options, operation: `race ${answer ?? "of an error"}`, key });
      const handler = middy({
        timeoutEarlyInMillis,
        timeoutEarlyResponse: () => {
          held.resume();
          if (answer === undefined) throw new Error("timed out");
          return answer as unknown as undefined;
        },
      })
        .use(once)
        .after(() => over.reached)
        .onError(() => over.reached)
        .handler(
          once.handler(async () => {
            await held.pause();
            setImmediate(over.pause);
            return "returned";
          }),
        );

      const first = await handler(EVENT, context()).catch((error: Error) => error.message);

      expect(["returned", "timed out"]).toContain(first);
      expect(await handler(EVENT, context())).toBe("returned");
    }
  });

  it("does not mistake what a hook has prepared for the handler's result, when the handler throws", async () => {
    const { options, context, states } = given();
    const once = idempotency({ ...options, key });
    const handler = middy()
      .use(once)
      .before((request) => {
        const { event, context } = request;
        request.response = [event, context];
      })
      .handler(
        once.handler(async () => {
          throw new Error("database down");
        }),
      );

    await expect(handler(EVENT, context())).rejects.toThrow("database down");
    expect(states()).toEqual(["released"]);
  });

  it("does not mistake an error that a hook only sets for one that was thrown", async () => {
    const { options, context, decisions } = given();
    const once = idempotency({ ...options, key });
    const handler = middy()
      .use(once)
      .after((request) => {
        request.error = new Error("set");
      })
      .handler(once.handler(async () => undefined));

    expect(await handler(EVENT, context())).toBeUndefined();
    expect(decisions()).toEqual(["executed"]);
  });

  it("H42: leaves the outcome open if a stack inside the handler has given up", async () => {
    const { options, context, decisions } = given();
    const once = idempotency({ ...options, key });
    const inside = middy({ timeoutEarlyInMillis }).handler(() => new Promise(() => {}));
    const handler = middy()
      .use(once)
      .handler(once.handler((_event: typeof EVENT, ctx: object) => inside({}, ctx as never)));

    await expect(handler(EVENT, context())).rejects.toMatchObject({ name: "TimeoutError" });
    expect(decisions()).toEqual(["outcome-unknown"]);
  });

  it("passes on its arguments, and the handler's result, also if the handler isn't async", async () => {
    const { options, context } = given();
    const once = idempotency({ ...options, key });
    const seen: unknown[] = [];
    const handler = middy()
      .use(once)
      .before((request) => {
        request.context = { ...request.context, functionName: "copied" };
      })
      .handler(
        once.handler((event: typeof EVENT, { functionName }: { functionName: string }, { signal }) => {
          seen.push(event.key, functionName, signal);
          return "done";
        }),
      );

    expect(await handler(EVENT, context())).toBe("done");
    expect(seen).toEqual(["k1", "copied", expect.any(AbortSignal)]);
  });

  it("reports to every middleware of its stack", async () => {
    const { options, context, states } = given();
    const outer = idempotency({ ...options, operation: "outer", key });
    const inner = idempotency({ ...options, operation: "inner", key });
    const held = pausePoint();
    const handler = middy({ timeoutEarlyInMillis, timeoutEarlyResponse: () => "timed out" as never })
      .use(outer)
      .use(inner)
      .handler(
        inner.handler(async () => {
          await held.pause();
          return "late";
        }),
      );

    expect(await handler(EVENT, context())).toBe("timed out");
    expect(states()).toEqual(["in-progress", "in-progress"]);
    held.resume();
    await held.reached;

    await expect.poll(() => handler(EVENT, context())).toBe("late");
    expect(states()).toEqual(["completed", "completed"]);
  });

  it("runs events that pass without a record, and refuses to run without its middleware", async () => {
    const { options, context, store } = given();
    const once = httpIdempotency({ ...options, scope: "public" });
    const reporting = once.handler(async (_event: object, ctx: object) => ({ statusCode: 200, ctx }));
    const with_ = middy()
      .use(once)
      .handler(reporting as never);
    const without = middy().handler(reporting as never);

    expect(await with_(v2Event({ method: "GET" }) as never, context())).toMatchObject({
      statusCode: 200,
      ctx: { idempotency: {} },
    });
    await expect(without({} as never, context())).rejects.toMatchObject({
      code: "INVALID_OPTION",
      option: "handler",
    });
    await expect(reporting({}, undefined as never, undefined as never)).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
    expect(store.records.size).toBe(0);
  });
});

describeOnMiddies("idempotent around a stack", (middy) => {
  it("H42: leaves the outcome open when the stack inside times out early", async () => {
    const { options, context, decisions, states } = given();
    const stack = middy({ timeoutEarlyInMillis }).handler(() => new Promise(() => {}));
    const handler = idempotent((_event: typeof EVENT, ctx) => stack({}, ctx), { ...options, key });

    await expect(handler(EVENT, context())).rejects.toMatchObject({ name: "TimeoutError" });

    expect([states(), decisions()]).toEqual([["in-progress"], ["outcome-unknown"]]);
  });
});
