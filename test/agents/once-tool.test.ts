// Tools of agents on the real MCP client and server.
import { OutcomeUnknownError, PermanentError, ResultNotKeptError, StoreUnavailableError } from "onceonly";
import { onceTool } from "onceonly/agents";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { gate } from "../kit/time/gate.ts";
import { connect, refunds, statusOf, textOf } from "./given.ts";
import { refunded } from "./refund.ts";

const planId = "task-7";

describe("a tool whose agent plans again", () => {
  it("H71: gives the first result to the same intent in other words, and says in the text that nothing ran", async () => {
    const { run, effects } = refunds();
    const { call } = await connect(run);

    const first = await call({ note: "The parcel arrived late.", planId });
    const again = await call({ note: "Refund because of a delay", planId });

    expect(effects).toHaveLength(1);
    expect(first).toEqual(refunded("r1"));
    expect(again.content[0]).toEqual(first.content[0]);
    expect(textOf(again)).toContain("nothing ran again");
    expect(statusOf(again)).toEqual({ status: "replayed", id: expect.any(String) });
    expect(again.isError).toBeUndefined();
  });

  it("H71: runs for another declared argument, another plan and another tool", async () => {
    const { run, effects, store, clock } = refunds();
    const { call } = await connect(run);
    const credit = refunds({ operation: "credit", store, clock });
    const other = await connect(credit.run);

    for (const args of [{ planId }, { planId, cents: 501 }, { planId: "task-8" }]) {
      expect(statusOf(await call(args))).toBeUndefined();
    }
    expect(statusOf(await other.call({ planId }))).toBeUndefined();

    expect(effects).toHaveLength(3);
    expect(credit.effects).toHaveLength(1);
  });

  it("H71: takes the caller's key from `_meta` before the argument, whatever the plan", async () => {
    const { run, effects } = refunds();
    const { call } = await connect(run);

    await call({ planId }, { meta: { idempotencyKey: "k1" } });
    await call({ planId: "task-8", idempotencyKey: "k1", note: "again" });
    await call({ planId: "task-9", idempotencyKey: "k2" }, { meta: { idempotencyKey: "k1" } });
    expect(effects).toHaveLength(1);

    await call({ idempotencyKey: "k2" });
    expect(effects).toHaveLength(2);
  });

  it("H71: takes the plan from `_meta`, from an argument or from the option", async () => {
    const { run, effects, store, clock } = refunds();
    const { call } = await connect(run);
    const own = refunds({ store, clock, plan: (_, { _meta }) => _meta?.conversation as string });
    const other = await connect(own.run);

    await call({}, { meta: { planId } });
    await call({ planId });
    await other.call({}, { meta: { conversation: planId } });

    expect([...effects, ...own.effects]).toHaveLength(1);
  });

  it("H71: makes the intent with a function, for arguments that are nested or optional", async () => {
    const { run, effects } = refunds({ intent: ({ orderId, note }) => ({ orderId, note: note ?? null }) });
    const { call } = await connect(run);

    await call({ planId });
    await call({ planId, cents: 501 });
    expect(effects).toHaveLength(1);

    await call({ planId, note: "a second one" });
    expect(effects).toHaveLength(2);
  });
});

describe("a call that can't have a key", () => {
  it.each([
    ["no plan and no key", {}, {}, /no idempotency key and no plan id: pass `planId`/],
    ["an empty key", { idempotencyKey: "" }, {}, /idempotency key must be a string of 1 to 255/],
    ["an empty plan", { planId: "" }, {}, /the plan id must be a string of 1 to 255/],
    [
      "a plan that was never set",
      { planId: "undefined" },
      {},
      /the plan id contains the text of a missing value/,
    ],
    ["a key that isn't text", { planId }, { idempotencyKey: 7 }, /the idempotency key must be a string/],
  ])("H71: refuses %s with an error that says what to do", async (_, args, meta, message) => {
    const { run, effects } = refunds();
    const { call } = await connect(run);

    const refused = await call(args, { meta });

    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(message);
    expect(effects).toHaveLength(0);
  });

  it("H71: refuses a call that lacks a declared argument, since calls that differ in it would be one", async () => {
    const { run, effects } = refunds({ intent: ["orderId", "note"] });
    const { call } = await connect(run);

    expect(textOf(await call({ planId }))).toMatch(
      /the arguments lack note, which `intent` declares: pass it/,
    );
    expect(effects).toHaveLength(0);

    const nothing = refunds({ intent: () => undefined });
    const other = await connect(nothing.run);
    expect(textOf(await other.call({ planId }))).toMatch(/`intent` returned nothing/);
  });

  it("reports a missing key to observers", async () => {
    const decisions: string[] = [];
    const { run } = refunds({ observe: ({ decision }) => decisions.push(decision) });

    await (await connect(run)).call({});

    expect(decisions).toEqual(["key-missing"]);
  });
});

describe("the owner of a key", () => {
  it("H71: is the server's own principal: a key that a prompt has injected finds nothing of another agent", async () => {
    const { run, effects } = refunds();
    const ann = await connect(run, { as: "ann" });
    const bob = await connect(run, { as: "bob" });

    await ann.call({ idempotencyKey: "k1" });
    const stolen = await bob.call(
      { idempotencyKey: "k1", scope: "ann" },
      { meta: { clientId: "ann", scope: "ann" } },
    );

    expect(textOf(stolen)).toBe("r2");
    expect(effects).toHaveLength(2);
  });

  it("H71: two agents of one principal share a plan, and those of two don't", async () => {
    const { run, effects } = refunds();

    for (const as of ["shop", "shop", "other shop"]) await (await connect(run, { as })).call({ planId });

    expect(effects).toHaveLength(2);
  });

  it("H71: is required: a call without a verified principal is refused", async () => {
    const { run, effects } = refunds({ scope: () => undefined });

    const refused = await (await connect(run)).call({ planId });

    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(/no verified principal/);
    expect(effects).toHaveLength(0);
  });

  it("can be public, for a server with one user", async () => {
    const { run, effects } = refunds({ scope: "public" });

    for (const as of ["ann", "bob"]) await (await connect(run, { as })).call({ planId });

    expect(effects).toHaveLength(1);
  });
});

describe("a key that was used with other arguments", () => {
  it("H71: is refused with what to do, and without an invitation to do it twice", async () => {
    const { run, effects } = refunds();
    const { call } = await connect(run);
    await call({ idempotencyKey: "k1" });

    const refused = await call({ idempotencyKey: "k1", cents: 900 });

    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(
      /other values of orderId, cents, which may have taken effect.*call with the same/,
    );
    expect(effects).toHaveLength(1);
  });

  it("names no arguments if the intent is a function", async () => {
    const { run } = refunds({ intent: ({ cents }) => [cents] });
    const { call } = await connect(run);
    await call({ idempotencyKey: "k1" });

    expect(textOf(await call({ idempotencyKey: "k1", cents: 900 }))).toMatch(/other values of its arguments/);
  });
});

describe("a call whose outcome isn't known", () => {
  const verdict = (outcome: "happened" | "did-not-happen") => () =>
    outcome === "happened" ? { outcome, result: refunded("r1, found") } : { outcome };

  it("H71: is pending while another one runs, and its id asks for it from another plan", async () => {
    const [started, finish] = [gate(), gate()];
    const { run, effects } = refunds({ whenInProgress: "reject" }, async () => {
      started.open();
      await finish.opened;
      return refunded("r1");
    });
    const { call } = await connect(run);

    const first = call({ planId });
    await started.opened;
    const second = await call({ planId, note: "in other words" });
    const { status, id, retryAfterSeconds } = statusOf(second) as Record<string, unknown>;
    finish.open();

    expect({ status, retryAfterSeconds, isError: second.isError }).toEqual({
      status: "pending",
      retryAfterSeconds: 1,
    });
    expect(textOf(second)).toContain(`with "${id}"`);
    expect(await first).toEqual(refunded("r1"));
    expect(textOf(await call({ planId: "a new plan", idempotencyKey: id }))).toMatch(/^r1\n/);
    expect(effects).toHaveLength(1);
  });

  it("H71: two calls at the same time run once, and the second waits for the result", async () => {
    const { run, effects, clock } = refunds({}, async () => {
      await clock.sleep(100);
      return refunded("r1");
    });
    const { call } = await connect(run);

    const answers = await clock.run(Promise.all([call({ planId }), call({ planId, note: "again" })]));

    expect(answers.map((answer) => answer.content[0])).toEqual([
      refunded("r1").content[0],
      refunded("r1").content[0],
    ]);
    expect(effects).toHaveLength(1);
  });

  it.each([
    ["happened", "r1, found", 1],
    ["did-not-happen", "r2", 2],
  ] as const)("H71: is settled by `verify`, which says that it %s", async (outcome, result, runs) => {
    const died = new OutcomeUnknownError();
    const { run, effects, clock } = refunds({ whenAbandoned: verdict(outcome) }, async () => {
      if (effects.length === 1) throw died;
      return refunded(`r${effects.length}`);
    });
    const { call } = await connect(run);

    const unknown = await call({ planId });
    const held = await call({ planId });
    await clock.advance(60_000);
    const settled = await call({ planId });

    for (const answer of [unknown, held]) {
      expect(statusOf(answer)).toMatchObject({ status: "pending", retryAfterSeconds: 60 });
      expect(answer.isError).toBeUndefined();
    }
    expect(textOf(settled)).toMatch(new RegExp(`^${result}`));
    expect(effects).toHaveLength(runs);
  });

  it("H71: is held after a crash unless an option says otherwise", async () => {
    const { run, effects, store, clock } = refunds();
    const { call } = await connect(run);
    store.claim = (
      (claim) =>
      async (...given: Parameters<typeof claim>) => {
        // The process dies after its claim.
        await claim.apply(store, given);
        throw new Error("killed");
      }
    )(store.claim);
    await call({ planId });
    Reflect.deleteProperty(store, "claim");
    await clock.advance(36_000);

    expect(statusOf(await call({ planId }))).toMatchObject({ status: "pending" });
    expect(effects).toHaveLength(0);
  });

  it("H71: is the end of a tool that fails after its caller has cancelled: the request may have arrived", async () => {
    const started = gate();
    const { run, effects } = refunds({}, async (_refund, _execution, { signal }) => {
      started.open();
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      return refunded("never");
    });
    const { call } = await connect(run);
    const caller = new AbortController();

    const first = call({ planId }, { signal: caller.signal });
    await started.opened;
    caller.abort();
    await expect(first).rejects.toThrow();

    expect(statusOf(await call({ planId }))).toMatchObject({ status: "pending" });
    expect(effects).toHaveLength(1);
  });

  it("H71: is the end of a tool that reports its failure by `isError` after the cancellation", async () => {
    const { run, effects } = refunds({}, async () => ({ content: [], isError: true }));
    const caller = new AbortController();
    const extra = { signal: caller.signal, authInfo: { clientId: "agent" } } as never;
    const refund = { orderId: "o1", cents: 500, planId };

    const first = run(
      {
        ...refund,
        get cents() {
          return 500;
        },
      },
      extra,
    );
    caller.abort();

    expect(statusOf(await first)).toMatchObject({ status: "pending" });
    expect(effects).toHaveLength(1);
  });

  it("H71: runs to its end although the connection was closed before its progress was sent", async () => {
    const [started, closed] = [gate(), gate()];
    const { run, effects, clock } = refunds({}, async (_refund, _execution, { sendNotification, _meta }) => {
      started.open();
      await closed.opened;
      const params = { progressToken: _meta?.progressToken as number, progress: 1 };
      await sendNotification({ method: "notifications/progress", params });
      return refunded("r1");
    });
    const lost = await connect(run);

    const first = lost.call({ planId }, { onprogress: () => {} });
    await started.opened;
    await lost.client.close();
    closed.open();
    await expect(first).rejects.toThrow(/closed/);

    const { call } = await connect(run);
    expect(textOf(await clock.run(call({ planId })))).toMatch(/^r1\n/);
    expect(effects).toHaveLength(1);
  });

  it("H71: runs to its end if the tool ignores the cancellation, so the next call gets its result", async () => {
    const [started, finish] = [gate(), gate()];
    const { run, effects, clock } = refunds({}, async () => {
      started.open();
      await finish.opened;
      return refunded("r1");
    });
    const { call } = await connect(run);
    const caller = new AbortController();

    const first = call({ planId }, { signal: caller.signal });
    await started.opened;
    caller.abort();
    await expect(first).rejects.toThrow();
    finish.open();

    expect(textOf(await clock.run(call({ planId })))).toMatch(/^r1\n/);
    expect(effects).toHaveLength(1);
  });

  it("claims nothing for a call that was cancelled before it began", async () => {
    const { run, effects } = refunds();
    const extra = { signal: AbortSignal.abort(), authInfo: { clientId: "agent" } } as never;

    await expect(run({ orderId: "o1", cents: 500, planId }, extra)).rejects.toThrow();
    expect(effects).toHaveLength(0);
  });
});

describe("a tool with an output schema", () => {
  const structured = (refundId: string) => ({ ...refunded(refundId), structuredContent: { refundId } });

  it("H71: replays a result that fits the schema: client and server check it", async () => {
    const { run, effects } = refunds({ outputSchema: {} }, async () => structured("r1"));
    const { call } = await connect(run, { hasOutput: true });

    const first = await call({ planId });
    const again = await call({ planId });

    expect(first).toEqual(structured("r1"));
    expect(again.structuredContent).toEqual({ refundId: "r1" });
    expect(textOf(again)).toContain("nothing ran again");
    expect(effects).toHaveLength(1);
  });

  it("H71: answers `isError` while the outcome isn't known, which is the one form that needs not fit", async () => {
    const { run } = refunds({ outputSchema: {} }, async () => {
      throw new OutcomeUnknownError();
    });
    const { call } = await connect(run, { hasOutput: true });

    const pending = await call({ planId });

    expect(pending.isError).toBe(true);
    expect(statusOf(pending)).toMatchObject({ status: "pending" });
    expect(textOf(pending)).toMatch(/^Pending:/);
  });
});

describe("a tool that fails", () => {
  it("H71: runs again if it threw or returned `isError`, and gives a permanent error to each call", async () => {
    const ends = [
      () => Promise.reject(new Error("the provider is down")),
      () => ({ ...refunded("declined"), isError: true }),
      () => Promise.reject(new PermanentError("order o1 was never paid")),
    ];
    const { run, effects } = refunds({}, async () => ends[effects.length - 1]!());
    const { call } = await connect(run);

    const answers = [
      await call({ planId }),
      await call({ planId }),
      await call({ planId }),
      await call({ planId }),
    ];

    expect(answers.map(textOf)).toEqual([
      "the provider is down",
      "declined",
      "order o1 was never paid",
      "order o1 was never paid",
    ]);
    expect(answers.map(({ isError }) => isError)).toEqual([true, true, true, true]);
    expect(effects).toHaveLength(3);
  });

  it("keeps the store's own text, with its tables and accounts, from the agent", async () => {
    const { run, effects, store } = refunds();
    const request = { action: "PutItem", table: "prod-records" };
    store.claim = async () => {
      throw new StoreUnavailableError(
        "refused",
        new Error("arn:aws:iam::123456789012:role/x"),
        "AccessDenied",
        request,
      );
    };
    const { call } = await connect(run);

    const refused = await call({ planId });

    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(/idempotency store/);
    expect(textOf(refused)).not.toMatch(/prod-records|arn:aws/);
    expect(effects).toHaveLength(0);
  });

  it("says that a result which wasn't kept took effect", async () => {
    const { run, effects, store } = refunds();
    const { call } = await connect(run);
    await call({ planId });
    store.claim = async () => {
      throw new ResultNotKeptError(0);
    };

    const again = await call({ planId });

    expect(textOf(again)).toMatch(/took effect, but its result wasn't kept/);
    expect(again.isError).toBeUndefined();
    expect(effects).toHaveLength(1);
  });
});

describe("progress", () => {
  it("H71: goes to the call that runs, by its own token", async () => {
    const { run } = refunds({}, async (_refund, _execution, { sendNotification, _meta }) => {
      const params = { progressToken: _meta?.progressToken as number, progress: 1 };
      await sendNotification({ method: "notifications/progress", params });
      return refunded("r1");
    });
    const { call } = await connect(run);
    const progress: number[] = [];

    await call({ planId }, { onprogress: () => progress.push(1) });
    await call({ planId }, { onprogress: () => progress.push(2) });

    expect(progress).toEqual([1]);
  });
});

describe("onceTool", () => {
  const options = {
    operation: "refund",
    store: new MemoryStore(),
    intent: ["orderId"],
    scope: "public",
  } as const;
  const tool = async ({ orderId }: { readonly orderId: string }) => orderId;

  it.each([
    [
      "no function",
      { execute: tool },
      {},
      /`tool` must be the function of the tool: put `onceTool` around it \(got an object\)/,
    ],
    ["a generator", async function* () {}, {}, /`tool` is a generator/],
    ["no intent", tool, { intent: undefined }, /`intent` must be a list of argument names/],
    ["an empty intent", tool, { intent: [] }, /`intent` must be a list of argument names/],
    [
      "no scope",
      tool,
      { scope: undefined },
      /`scope` must be a function that returns the verified principal, or "public"/,
    ],
    ["a fixed scope", tool, { scope: "ann" }, /`scope` must be a function/],
    ["a fingerprint", tool, { fingerprint: () => 1 }, /`fingerprint` isn't an option/],
    ["a run without protection", tool, { whenStoreFails: "run" }, /`whenStoreFails` isn't an option/],
    ["a misspelt option", tool, { plann: () => "" }, /`plann` isn't an option \(did you mean `plan`/],
  ])("refuses %s immediately", (_, given, more, message) => {
    expect(() => onceTool(given as never, { ...options, ...more } as never)).toThrow(message);
  });

  it("runs an abandoned attempt again on a store that rolls it back", () => {
    const store = new MemoryStore();
    Object.defineProperty(store, "unknownOutcomes", { value: undefined });

    expect(() => onceTool(tool, { ...options, store })).not.toThrow();
  });
});
