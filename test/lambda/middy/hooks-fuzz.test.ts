// Random stacks: hooks that throw, answer, set and read anything, around handlers that end in every way. Whatever they do,
// an effect happens once, a final error is recorded, no key stays claimed, and decisions are observed.
import type middy6 from "@middy/core";
import fc from "fast-check";
import { idempotency, PermanentError, type WithIdempotency } from "onceonly";
import { expect, it } from "vitest";
import { describeOnMiddies } from "../../kit/middies.ts";
import { given } from "../given.ts";

const EVENT = { key: "k1" };
const STACKS = 1500;

const HOOK_ACTS = {
  nothing: () => undefined,
  reads: ({ event, context, response, error, internal }: middy6.Request) => {
    void [event, context, response, error, internal];
  },
  throws: () => {
    throw new Error("hook broken");
  },
  "throws a final error": () => {
    throw new PermanentError("hook final");
  },
  "throws a text": () => {
    throw "a text";
  },
  "throws undefined": () => {
    throw undefined;
  },
  answers: () => "early",
  "answers undefined": (request: middy6.Request) => {
    request.earlyResponse = undefined;
  },
  responds: (request: middy6.Request) => {
    request.response = "response";
  },
  "sets an error": (request: middy6.Request) => {
    request.error = new Error("set");
  },
  "copies the context": (request: middy6.Request) => {
    request.context = { ...request.context };
  },
} as const;
type HookAct = keyof typeof HOOK_ACTS;

type Commit = (result: unknown) => Promise<unknown>;
const HANDLER_ACTS = {
  returns: () => "returned",
  "returns undefined": () => undefined,
  throws: () => {
    throw new Error("handler broken");
  },
  "throws undefined": () => {
    throw undefined;
  },
  "throws a final error": () => {
    throw new PermanentError("handler final");
  },
  commits: (commit: Commit) => commit("committed"),
  "commits and throws": async (commit: Commit) => {
    await commit("committed");
    throw new Error("handler broken");
  },
} as const;
type HandlerAct = keyof typeof HANDLER_ACTS;

interface Hook {
  readonly act: HookAct;
  readonly isAsync: boolean;
}
interface Middleware {
  readonly before: Hook;
  readonly after: Hook;
  readonly onError: Hook;
}
interface Stack {
  readonly outer: readonly Middleware[];
  readonly inner: readonly Middleware[];
  readonly handler: HandlerAct;
  readonly isAsync: boolean;
  readonly reports: boolean;
}

/** All that hooks can do, except for what Middy cannot report, as docs/reference/middy-hooks.md names it. */
function hookActs(place: "before" | "after" | "onError", isInner: boolean): fc.Arbitrary<Hook> {
  const acts = (Object.keys(HOOK_ACTS) as HookAct[]).filter(
    (act) =>
      !isInner ||
      place === "onError" ||
      (act !== "sets an error" && !(place === "before" && act === "responds")),
  );
  return fc.record({
    act: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom<HookAct>("nothing", "reads") },
      fc.constantFrom(...acts),
    ),
    isAsync: fc.boolean(),
  });
}

const middlewares = (isInner: boolean, maxLength: number) =>
  fc.array(
    fc.record({
      before: hookActs("before", isInner),
      after: hookActs("after", isInner),
      onError: hookActs("onError", isInner),
    }),
    { maxLength },
  );

const stacks: fc.Arbitrary<Stack> = fc.record({
  outer: middlewares(false, 2),
  inner: middlewares(true, 3),
  handler: fc.constantFrom(...(Object.keys(HANDLER_ACTS) as HandlerAct[])),
  isAsync: fc.boolean(),
  reports: fc.boolean(),
});

describeOnMiddies("idempotency", (middy) => {
  async function play({ outer, inner, handler: act, isAsync, reports }: Stack) {
    const { options, clock, context, states, decisions } = given();
    let calls = 0;
    let runs = 0;
    const once = idempotency({ ...options, key: (event: typeof EVENT) => event.key });
    const hookOf = (hook: Hook) => (request: middy6.Request) => {
      if (calls > 1) return undefined;
      const acts = HOOK_ACTS[hook.act] as (request: middy6.Request) => unknown;
      return hook.isAsync ? Promise.resolve().then(() => acts(request)) : acts(request);
    };
    const made = (list: readonly Middleware[]) =>
      list.map(({ before, after, onError }) => ({
        before: hookOf(before),
        after: hookOf(after),
        onError: hookOf(onError),
      }));
    const handle = (_event: typeof EVENT, ctx: WithIdempotency): unknown => {
      runs++;
      if (calls > 1) return "second";
      const acts = () => HANDLER_ACTS[act](ctx.idempotency.commit);
      return isAsync ? Promise.resolve().then(acts) : acts();
    };
    const handler = middy()
      .use(made(outer))
      .use(once)
      .use(made(inner))
      .handler((reports ? once.handler(handle as never) : handle) as never);
    const call = async () => {
      calls++;
      const answer = handler(EVENT as never, context()) as Promise<unknown>;
      return answer.then(
        (value) => `answers ${value}`,
        (error) => `throws ${error?.message ?? error}`,
      );
    };

    const first = await call();
    // What Middy does not wait for.
    await clock.advance(0);
    const [state] = states();
    const reported = decisions();
    const ranFirst = runs > 0;
    const second = await call();
    await clock.advance(36_000);
    const third = await call();
    return { first, state, reported, ranFirst, second, third, runs };
  }

  it("H49: no random stack of hooks repeats an effect, loses a final error, keeps a key, or decides in silence", async () => {
    const property = fc.asyncProperty(stacks, async (stack) => {
      const { state, reported, ranFirst, second, third, runs } = await play(stack);
      const isDone = ranFirst && !stack.handler.startsWith("throws");
      const isFinal = ranFirst && stack.handler === "throws a final error";

      expect(state).not.toBe("in-progress");
      expect(second).not.toContain("in progress");
      expect(third).toBe(second);
      expect(reported.length).toBe(state === undefined ? 0 : 1);
      if (isDone) expect({ state, runs }).toEqual({ state: "completed", runs: 1 });
      if (isFinal)
        expect({ state, second, runs }).toEqual({ state: "failed", second: "throws handler final", runs: 1 });
      if (ranFirst && !isDone && !isFinal) expect({ state, runs }).toEqual({ state: "released", runs: 2 });
      if (!ranFirst) expect(runs).toBeLessThanOrEqual(1);
      if (stack.handler.startsWith("commits") && ranFirst) expect(second).toBe("answers committed");
    });

    await fc.assert(property, {
      numRuns: Number(process.env.FZ ?? STACKS),
      seed: Number(process.env.FZS ?? 7),
    });
  });
});
