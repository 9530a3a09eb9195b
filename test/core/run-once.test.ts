import { describe, expect, it } from "vitest";
import { PermanentError } from "../../lib/core/errors.ts";
import type { RunOnceOptions } from "../../lib/core/run-once.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { idempotency, idempotent } from "../../lib/lambda/plain.ts";
import { fakeClock, fakeLambdaContext, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";

const optionsOf = (change: Partial<RunOnceOptions<MemoryWrite>> = {}): RunOnceOptions<MemoryWrite> => ({
  operation: "charge",
  store: new MemoryStore(),
  leaseSeconds: 30,
  clock: fakeClock(),
  ...change,
});

describe("runOnce", () => {
  it("runs once per operation, scope and key, and answers every call with the same result", async () => {
    const options = optionsOf();
    let runs = 0;

    const first: { run: number } = await runOnce(options, "key", { total: 7 }, () => ({ run: ++runs }));
    const second = await runOnce(options, "key", { total: 7 }, async () => ({ run: ++runs }));
    const third = await runOnce({ ...options, scope: "tenant" }, "key", { total: 7 }, () => ({
      run: ++runs,
    }));

    expect([first, second, third]).toEqual([{ run: 1 }, { run: 1 }, { run: 2 }]);
  });

  it("without a scope the operation has the empty one, which no caller can have", async () => {
    expect(await runOnce(optionsOf(), "key", 1, ({ scope }) => scope)).toBe("");
  });

  it("refuses another input under the same key", async () => {
    const options = optionsOf();
    await runOnce(options, "key", { total: 7 }, () => 1);

    await expect(runOnce(options, "key", { total: 8 }, () => 2)).rejects.toMatchObject({
      code: "FINGERPRINT_MISMATCH",
    });
  });

  it("fingerprints the input before the work can change it", async () => {
    const options = optionsOf();
    const input = { total: 7 };
    await runOnce(options, "key", input, () => {
      input.total = 8;
      return "done";
    });

    expect(await runOnce(options, "key", { total: 7 }, () => "never")).toBe("done");
  });

  it("fingerprints only what the options select", async () => {
    const options = optionsOf({ fingerprint: ({ total }: { total: number }) => total });
    await runOnce(options, "key", { total: 7, sentAt: 1 }, () => "done");

    expect(await runOnce(options, "key", { total: 7, sentAt: 2 }, () => "never")).toBe("done");
  });

  it("checks the options once per object", async () => {
    let checks = 0;
    const options = Object.defineProperty(optionsOf(), "retentionSeconds", {
      enumerable: true,
      get: () => {
        checks++;
        return 60;
      },
    });
    await runOnce(options, "key", 1, () => "done");
    const once = checks;

    await runOnce(options, "key", 1, () => "never");

    expect(once).toBeGreaterThan(0);
    expect(checks).toBe(once);
  });

  it("derives its lease from the invocation's context, and the deadline from its signal", async () => {
    const clock = fakeClock();
    const store = new MemoryStore();
    const options = optionsOf({ leaseSeconds: undefined, clock, store });
    const { signal } = await runOnce(
      { ...options, context: fakeLambdaContext({ clock, remainingMs: 10_000 }) },
      "key",
      1,
      ({ signal }) => {
        const [record] = store.records.values();
        expect(record!.leaseEndsAt).toBe(clock.now() + 15_000);
        return { signal: signal.aborted };
      },
    );

    expect(signal).toBe(false);
  });

  it("reads the context of each call, not that of the first", async () => {
    const clock = fakeClock();
    const options = optionsOf({ leaseSeconds: undefined, clock });
    const former = { ...options, context: fakeLambdaContext({ clock, remainingMs: 1000 }) };
    await runOnce(former, "first", 1, () => 1);
    await clock.advance(60_000);

    await expect(runOnce(former, "second", 1, () => 1)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(
      await runOnce({ ...options, context: fakeLambdaContext({ clock }) }, "second", 1, () => "run"),
    ).toBe("run");
  });

  it("is rejected inside itself if it gets the handler's context", async () => {
    const clock = fakeClock();
    const options = { operation: "charge", store: new MemoryStore(), clock };
    const handler = idempotent(
      async (_: object, context) => runOnce({ ...options, scope: "ada", context }, "key", {}, () => 1),
      { ...options, key: () => "key", scope: () => "ada" },
    );

    await expect(handler({}, fakeLambdaContext({ clock }))).rejects.toMatchObject({
      code: "NESTED_EXECUTION",
    });
  });

  const swapped = { id: 7 };
  const run = () => 1;
  it.each([
    ["a key before the options", ["order-1", {}, swapped, run], "`options` must be an object and come first"],
    [
      "no options",
      [undefined, "order-1", swapped, run],
      "(undefined, a string of 7 characters, an object, a function)",
    ],
    ["null as the options", [null, "order-1", swapped, run], "`options` must be an object and come first"],
    [
      "a function in place of the options",
      [run, "order-1", swapped],
      "`options` must be an object and come first",
    ],
    ["the input before the function", [{}, "order-1", run, swapped], "`input` must come before `fn`"],
    [
      "no input",
      [{}, "order-1", run],
      "`input` must come before `fn`, and be given: call runOnce(options, key, input, fn); got (an object, a string of 7 characters, a function, undefined)",
    ],
    [
      "no function",
      [{}, "order-1", swapped],
      "`fn` must be a function: call runOnce(options, key, input, fn)",
    ],
  ] as const)("names the mistake of %s, before any I/O", async (_, given, message) => {
    const store = new MemoryStore();
    const [options, ...rest] = given as readonly unknown[];
    const all = options && typeof options === "object" ? [optionsOf({ store }), ...rest] : given;

    await expect((runOnce as (...all: readonly unknown[]) => Promise<unknown>)(...all)).rejects.toMatchObject(
      {
        code: "INVALID_OPTION",
        message: expect.stringContaining(message),
      },
    );
    expect(store.records.size).toBe(0);
  });

  it("names a key and an input that are swapped", async () => {
    const call = runOnce(optionsOf({ store: new MemoryStore() }), swapped as never, "order-1", run);

    await expect(call).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_INVALID",
      message:
        "the idempotency key must be a string and come before the input: call runOnce(options, key, input, fn); got (an object, an object, a string of 7 characters, a function)",
    });
  });

  it("says that a key isn't a string, if no other argument looks like one", async () => {
    await expect(runOnce(optionsOf(), 7 as never, swapped, run)).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_INVALID",
      message: expect.stringContaining("must be a string of 1 to"),
    });
  });

  it("H62: refuses the event of a durable execution, before any I/O", async () => {
    const store = new MemoryStore();
    const event = { DurableExecutionArn: "arn", CheckpointToken: "token" };

    await expect(runOnce(optionsOf({ store }), "key", event, run)).rejects.toThrow("`fn`");
    expect(store.records.size).toBe(0);
  });

  it.each([
    [{ scope: "" }, "`scope` is empty"],
    [{ scope: undefined }, "`scope` is empty"],
    [{ scope: 7 as unknown as string }, "the scope must be a string"],
    [{ mode: "fast" as "claimed" }, "`mode`"],
    [{ leaseSeconds: undefined }, "`leaseSeconds`"],
    [{ context: {} as never }, "`context` must be an object with the method getRemainingTimeInMillis"],
    [{ context: null as never }, "`context`"],
  ])("refuses options before any I/O: %j", async (change, message) => {
    const store = new MemoryStore();

    await expect(runOnce(optionsOf({ store, ...change }), "key", 1, () => 1)).rejects.toThrow(message);
    expect(store.records.size).toBe(0);
  });

  it.each([
    ["a key", "", { total: 7 }, "IDEMPOTENCY_KEY_INVALID"],
    ["a payload", "key", { total: 7n }, "PAYLOAD_INVALID"],
  ])("refuses %s that it cannot use, before any I/O", async (_, key, input, code) => {
    const store = new MemoryStore();

    await expect(runOnce(optionsOf({ store }), key, input, () => 1)).rejects.toMatchObject({ code });
    expect(store.records.size).toBe(0);
  });
});

describe('returns: "outcome" of runOnce', () => {
  it("says whether the result was replayed", async () => {
    const options = optionsOf();
    const asked = { ...options, returns: "outcome" } as const;
    const work = () => ({ run: 1 });

    const first = await runOnce(asked, "key", { total: 7 }, work);
    const second: { result: { run: number }; replayed: boolean } = await runOnce(
      asked,
      "key",
      { total: 7 },
      work,
    );

    expect([first, second]).toEqual([false, true].map((replayed) => ({ result: { run: 1 }, replayed })));
    expect(await runOnce(options, "key", { total: 7 }, work)).toEqual({ run: 1 });
  });

  it("throws the work's error, first and replayed, and reports a wrong call", async () => {
    const options = { ...optionsOf(), returns: "outcome" } as const;
    const refused = () => Promise.reject(new PermanentError("sold out"));

    for (const _ of [1, 2]) await expect(runOnce(options, "key", 1, refused)).rejects.toThrow("sold out");
    await expect(runOnce(options, "", 1, refused)).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_INVALID",
    });
  });
});

describe('returns: "outcome" of idempotent', () => {
  it("answers as idempotent does, and reports whether that was replayed", async () => {
    const clock = fakeClock();
    const options = { operation: "charge", store: new MemoryStore(), clock, key: () => "key" };
    const handler = idempotent(async (event: { total: number }) => ({ charged: event.total }), {
      ...options,
      returns: "outcome",
    });
    const plain = idempotent(async (_: { total: number }) => "never", options);
    const context = fakeLambdaContext({ clock });

    const answers = [await handler({ total: 7 }, context), await handler({ total: 7 }, context)];

    expect(answers).toEqual([false, true].map((replayed) => ({ result: { charged: 7 }, replayed })));
    expect(await plain({ total: 7 }, context)).toEqual({ charged: 7 });
  });

  it("is refused with another value, by Middy's form and runOnce too", async () => {
    const options = { operation: "charge", store: new MemoryStore(), returns: "both" as never };

    expect(() => idempotent(async () => 1, { ...options, key: () => "key" })).toThrow("`returns`");
    expect(() => idempotency({ ...options, key: () => "key" })).toThrow("`returns`");
    await expect(runOnce(options, "key", 1, () => 1)).rejects.toThrow("`returns`");
  });
});
