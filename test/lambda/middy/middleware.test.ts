import { idempotency, PermanentError } from "onceonly";
import type { Clock } from "onceonly/store-kit";
import { expect, it } from "vitest";
import { describeOnMiddies } from "../../kit/middies.ts";
import { given, pausePoint } from "../given.ts";

const EVENT = { key: "k1", item: "book" };
const key = (event: typeof EVENT) => event.key;

describeOnMiddies("idempotency", (middy) => {
  it("runs the handler once, and answers every retry with the first result", async () => {
    const { options, context, decisions } = given();
    let effects = 0;
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .handler(async (event: typeof EVENT, { idempotency }) => {
        effects++;
        return { item: event.item, key: idempotency.key, attempt: idempotency.attempt };
      });

    const answers = [await handler(EVENT, context()), await handler(EVENT, context())];

    expect(answers[0]).toEqual({ item: "book", key: "k1", attempt: 1 });
    expect(answers[1]).toEqual(answers[0]);
    expect(effects).toBe(1);
    expect(decisions()).toEqual(["executed", "replayed"]);
  });

  it.each([undefined, null, false, 0, ""])("stops Middy on the replay of %j", async (result) => {
    const { options, context } = given();
    let effects = 0;
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .handler(async () => {
        effects++;
        return result;
      });

    const answers = [await handler(EVENT, context()), await handler(EVENT, context())];

    expect(answers).toEqual([result, result]);
    expect(effects).toBe(1);
  });

  it("passes on an error of a middleware before it, without an open run", async () => {
    const { options, context, store } = given();
    const failure = new Error("not authenticated");
    const handler = middy()
      .before(() => {
        throw failure;
      })
      .use(idempotency({ ...options, key }))
      .handler(async () => "never");

    await expect(handler(EVENT, context())).rejects.toBe(failure);
    expect(store.records.size).toBe(0);
  });

  it("releases when the handler throws, and throws the handler's own error", async () => {
    const { options, context, states } = given();
    const failure = new Error("try again");
    let effects = 0;
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .handler(async () => {
        if (effects++ === 0) throw failure;
        return "done";
      });

    await expect(handler(EVENT, context())).rejects.toBe(failure);
    expect(states()).toEqual(["released"]);
    expect(await handler(EVENT, context())).toBe("done");
  });

  it("replays a final error through the error handlers around it", async () => {
    const { options, context } = given();
    let effects = 0;
    const handler = middy()
      .onError((request) => {
        request.response = { statusCode: (request.error as Error & { statusCode: number }).statusCode };
      })
      .use(idempotency({ ...options, key }))
      .handler(async () => {
        effects++;
        throw Object.assign(new PermanentError("sold out"), { statusCode: 410 });
      });

    const answers = [await handler(EVENT, context()), await handler(EVENT, context())];

    expect(answers).toEqual([{ statusCode: 410 }, { statusCode: 410 }]);
    expect(effects).toBe(1);
  });

  it("records the early answer of an inner before hook, although Middy skips our after hook", async () => {
    const { options, context, states } = given();
    let lookups = 0;
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .before(async () => ({ cached: ++lookups }))
      .handler(async () => "never");

    const answers = [await handler(EVENT, context()), await handler(EVENT, context())];

    expect(answers).toEqual([{ cached: 1 }, { cached: 1 }]);
    expect(states()).toEqual(["completed"]);
  });

  it("releases immediately when an inner before hook answers early with a response that isn't final", async () => {
    const { options, context, states } = given();
    const shouldStore = (result: unknown) => (result as { statusCode: number }).statusCode < 400;
    const handler = middy()
      .use(idempotency({ ...options, key, shouldStore }))
      .before(async (request) => {
        if (request.event.item === "?") return { statusCode: 400 };
      })
      .handler(async () => ({ statusCode: 201 }));

    expect(await handler({ ...EVENT, item: "?" }, context())).toEqual({ statusCode: 400 });
    expect(states()).toEqual(["released"]);
    expect(await handler(EVENT, context())).toEqual({ statusCode: 201 });
  });

  it("releases when a hook has prepared a response, and a later one throws before the handler", async () => {
    const { options, context, states } = given();
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .before((request) => {
        request.response = { prepared: true };
      })
      .before(() => {
        throw new Error("invalid");
      })
      .handler(async () => "never");

    await expect(handler(EVENT, context())).rejects.toThrow("invalid");
    expect(states()).toEqual(["released"]);
  });

  it("gives the plugin's requestEnd hook the settled answer, not a promise", async () => {
    const { options, context } = given();
    const ends: unknown[] = [];
    const handler = middy({
      requestEnd: (request: { response: unknown }) => void ends.push(request.response),
    })
      .use(idempotency({ ...options, key }))
      .before(async () => "early")
      .handler(async () => "never");

    await handler(EVENT, context());

    expect(ends).toEqual(["early"]);
  });

  it("records the early answer of an inner after hook", async () => {
    const { options, context } = given();
    let effects = 0;
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .after(async () => "shaped")
      .handler(async () => {
        effects++;
        return "raw";
      });

    const answers = [await handler(EVENT, context()), await handler(EVENT, context())];

    expect(answers).toEqual(["shaped", "shaped"]);
    expect(effects).toBe(1);
  });

  it.each([
    ["a result", "done"],
    ["undefined", undefined],
  ])("never releases when an after hook throws over %s, and throws its error", async (_, result) => {
    const { options, context, states } = given();
    const failure = new Error("cannot shape");
    let effects = 0;
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .after(() => {
        throw failure;
      })
      .handler(async () => {
        effects++;
        return result;
      });

    await expect(handler(EVENT, context())).rejects.toBe(failure);
    expect(states()).toEqual(["completed"]);
    expect(await handler(EVENT, context())).toBe(result);
    expect(effects).toBe(1);
  });

  it.each(["reads the context and prepares", "prepares"])(
    "does not mistake the response that a before hook %s for the handler's, when the handler throws",
    async (what) => {
      const { options, context, states } = given();
      const failure = new Error("database down");
      let runs = 0;
      const handler = middy()
        .use(idempotency({ ...options, key }))
        .before((request) => {
          if (what.startsWith("reads")) expect(request.context).toBeDefined();
          request.response = "prepared";
        })
        .handler(async () => {
          runs++;
          throw failure;
        });

      await expect(handler(EVENT, context())).rejects.toBe(failure);

      expect(runs).toBe(1);
      expect(states()).not.toContain("completed");
    },
  );

  it("records that a result could not be stored when an after hook throws over it", async () => {
    const { options, context, states } = given();
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .after(() => {
        throw new Error("cannot shape");
      })
      .handler(async () => new Date(0));

    await expect(handler(EVENT, context())).rejects.toThrow("cannot shape");
    expect(states()).toEqual(["failed"]);
    await expect(handler(EVENT, context())).rejects.toMatchObject({ code: "RESPONSE_NOT_STORABLE" });
  });

  it("does nothing more when an outer after hook throws", async () => {
    const { options, context, decisions } = given();
    const handler = middy()
      .after(() => {
        throw new Error("outer");
      })
      .use(idempotency({ ...options, key }))
      .handler(async () => "done");

    await expect(handler(EVENT, context())).rejects.toThrow("outer");
    expect(decisions()).toEqual(["executed"]);
  });

  it.each([
    [
      "sets a response",
      (request: { response: unknown }) => void Object.assign(request, { response: "handled" }),
    ],
    ["answers early", () => "handled"],
  ])("releases once when an inner error handler %s, and leaves it", async (_, onError) => {
    const { options, context, decisions } = given();
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .onError(onError)
      .handler(async () => {
        throw new Error("broken");
      });

    expect(await handler(EVENT, context())).toBe("handled");
    expect(decisions()).toEqual(["released"]);
  });

  it("records a final error although an inner error handler replaces it", async () => {
    const { options, context, states } = given();
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .onError((request) => {
        request.error = new Error("replaced");
        request.response = "handled";
      })
      .handler(async () => {
        throw new PermanentError("sold out");
      });

    expect(await handler(EVENT, context())).toBe("handled");
    expect(states()).toEqual(["failed"]);
    expect(await handler(EVENT, context())).toBe("handled");
  });

  it("H42: leaves the outcome open when Middy times out early, and keeps what the handler commits later", async () => {
    const { options, context, states, decisions } = given();
    let late: Promise<unknown> | undefined;
    const frozen = pausePoint();
    const handler = middy({ timeoutEarlyInMillis: 29_990 })
      .use(idempotency({ ...options, key }))
      .handler(async (_event: typeof EVENT, { idempotency }) => {
        late = frozen.pause().then(() => idempotency.commit("late"));
        await late;
      });

    await expect(handler(EVENT, context())).rejects.toMatchObject({ name: "TimeoutError" });
    expect(states()).toEqual(["in-progress"]);
    expect(decisions()).toEqual(["outcome-unknown"]);
    await expect(handler(EVENT, context())).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });

    frozen.resume();
    expect(await late).toBe("late");
    expect(await handler(EVENT, context())).toBe("late");
    expect(decisions()).toEqual(["outcome-unknown", "in-progress", "executed", "replayed"]);
  });

  it("does not release a custom early response once the signal has aborted", async () => {
    const { options, clock, context, states } = given();
    const shouldStore = (result: unknown) => (result as { statusCode: number }).statusCode < 400;
    const timeout = pausePoint();
    const handler = middy({
      timeoutEarlyInMillis: 29_900,
      timeoutEarlyResponse: () => ({ statusCode: 504 }),
    })
      .use(idempotency({ ...options, key, shouldStore }))
      .handler(async () => {
        await clock.advance(29_600);
        await timeout.pause();
      });

    expect(await handler(EVENT, context())).toEqual({ statusCode: 504 });
    expect(states()).toEqual(["in-progress"]);
  });

  it("answers with the committed result, whatever an inner after hook makes of the response", async () => {
    const { options, context } = given();
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .after((request) => {
        request.response = { ...request.response, shaped: true };
      })
      .handler(async (_event: typeof EVENT, { idempotency }) => idempotency.commit({ id: 1 }));

    const answers = [await handler(EVENT, context()), await handler(EVENT, context())];

    expect(answers).toEqual([{ id: 1 }, { id: 1 }]);
  });

  it("answers with the winner's result when the claim was lost", async () => {
    const { options, clock, context, decisions } = given();
    const first = pausePoint();
    let runs = 0;
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .handler(async () => {
        if (runs++ > 0) return "winner";
        await first.pause();
        return "loser";
      });

    const slow = handler(EVENT, context());
    await first.reached;
    await clock.advance(36_000);
    const fast = await handler(EVENT, context());
    first.resume();

    expect(fast).toBe("winner");
    expect(await slow).toBe("winner");
    expect(decisions()).toEqual(["taken-over", "executed", "claim-lost", "replayed"]);
  });

  it("answers with the winner's result, not with what an error handler made of the loser's error", async () => {
    const { options, clock, context } = given();
    const first = pausePoint();
    const onHost = (hostClock: Clock, work: () => Promise<unknown>) =>
      middy()
        .use(idempotency({ ...options, clock: hostClock, key }))
        .onError((request) => {
          request.response = "handled";
        })
        .handler(work);

    const slow = onHost(clock, async () => {
      await first.pause();
      throw new PermanentError("too late");
    })(EVENT, context());
    await first.reached;
    await onHost(clock.skewed(60_000), async () => "winner")(EVENT, context());
    first.resume();

    expect(await slow).toBe("winner");
  });

  it("throws the winner's error through the error handlers around it, not what was made of the loser's", async () => {
    const { options, clock, context } = given();
    const first = pausePoint();
    const onHost = (hostClock: Clock, outer: string[], work: () => Promise<unknown>) =>
      middy()
        .onError((request) => {
          outer.push((request.error as Error).message);
        })
        .use(idempotency({ ...options, clock: hostClock, key }))
        .onError((request) => {
          request.response = request.error?.message === "loser" ? "handled" : undefined;
        })
        .handler(work);
    const seen: string[] = [];

    const slow = onHost(clock, seen, async () => {
      await first.pause();
      throw new PermanentError("loser");
    })(EVENT, context());
    await first.reached;
    const fast = onHost(clock.skewed(60_000), [], async () => {
      throw new PermanentError("winner");
    })(EVENT, context());
    await expect(fast).rejects.toThrow("winner");
    first.resume();

    await expect(slow).rejects.toThrow("winner");
    expect(seen).toEqual(["winner"]);
  });
});
