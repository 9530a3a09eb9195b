import { AsyncLocalStorage } from "node:async_hooks";
import { idempotency, idempotent, runOnce } from "onceonly";
import { describe, expect, it } from "vitest";
import { describeOnMiddies } from "../kit/middies.ts";
import { given } from "./given.ts";

const EVENT = { key: "k1" };
const key = (event: typeof EVENT) => event.key;
const NESTED = { code: "NESTED_EXECUTION" };
const IN_PROGRESS = { code: "EXECUTION_IN_PROGRESS" };
const knowsAsyncContext = Number.parseInt(process.versions.node, 10) >= 24;

describe("idempotent", () => {
  it("H51: refuses the same operation and key inside itself", async () => {
    const { options, context } = given();
    const inner = idempotent(async () => "inner", { ...options, key });
    const outer = idempotent((event: typeof EVENT, ctx) => inner(event, ctx), { ...options, key });

    await expect(outer(EVENT, context())).rejects.toMatchObject(NESTED);
  });

  it("allows another operation inside, with the same context", async () => {
    const { options, context } = given();
    const inner = idempotent(async (_event: typeof EVENT, ctx) => ctx.idempotency.operation, {
      ...options,
      operation: "charge",
      key,
    });
    const outer = idempotent(
      async (event: typeof EVENT, ctx) => [
        ...(await Promise.all([inner(event, ctx), inner({ key: "k2" }, ctx)])),
        ctx.idempotency.operation,
      ],
      { ...options, key },
    );

    expect(await outer(EVENT, context())).toEqual(["charge", "charge", "create-order"]);
  });
});

describe("a frozen context", () => {
  const deeply = <T extends object>(value: T): T => {
    for (const each of Object.values(value)) if (Object(each) === each) deeply(each);
    return Object.freeze(value);
  };

  it.each([
    ["itself", (frozen: object) => frozen],
    ["an object made from it", (frozen: object) => Object.create(frozen) as object],
    ["a frozen object made from it", (frozen: object) => Object.freeze(Object.create(frozen)) as object],
  ])("R4: of an outer operation works for another one inside: %s", async (_, contextOf) => {
    const { options, context } = given();
    const inner = idempotent(async (_event: typeof EVENT, ctx) => ctx.idempotency.operation, {
      ...options,
      operation: "charge",
      key,
    });
    const outer = idempotent(
      async (event: typeof EVENT, ctx) => [
        await inner(event, contextOf(Object.freeze(ctx)) as typeof ctx),
        ctx.idempotency.operation,
      ],
      { ...options, key },
    );

    expect(await outer(deeply({ ...EVENT }), Object.freeze(context()))).toEqual(["charge", "create-order"]);
  });
});

describeOnMiddies("idempotency", (middy) => {
  it.each([
    ["first in the stack", []],
    ["behind another middleware", [{ before: async () => {} }]],
  ])("H51: refuses the same operation and key inside itself, %s", async (_, before) => {
    const { options, context } = given();
    const inner = idempotent(async () => "inner", { ...options, key });
    const handler = middy()
      .use(before)
      .use(idempotency({ ...options, key }))
      .handler((event: typeof EVENT, ctx) => inner(event, ctx));

    await expect(handler(EVENT, context())).rejects.toMatchObject(NESTED);
  });

  it.each([
    ["reports, from Node 24 on", true, knowsAsyncContext ? NESTED : IN_PROGRESS],
    ["does not report", false, IN_PROGRESS],
  ])(
    "H51: recognizes a nested call without a context if the handler %s; else it is in progress",
    async (...row) => {
      const [, reports, refusal] = row;
      const { options, context, states } = given();
      const once = idempotency({ ...options, key });
      const handle = () => runOnce({ ...options, leaseSeconds: 60 }, "k1", EVENT, () => "inner");
      const handler = middy()
        .use(once)
        .handler(reports ? once.handler(handle) : handle);

      await expect(handler(EVENT, context())).rejects.toMatchObject(refusal);
      expect(states()).toEqual(["released"]);
    },
  );

  it("H51: a call isn't nested once the middleware stack has timed out, although the handler is still running", async () => {
    const { options, context } = given();
    const once = idempotency({ ...options, key });
    const again = idempotent(async () => "never", { ...options, key });
    let kept: ReturnType<typeof context> | undefined;
    const handler = middy({ timeoutEarlyInMillis: 29_990 })
      .use(once)
      .handler(
        once.handler((_event: typeof EVENT, ctx: ReturnType<typeof context>) => {
          kept = ctx;
          return new Promise(() => {});
        }),
      );

    await expect(handler(EVENT, context())).rejects.toMatchObject({ name: "TimeoutError" });
    await expect(again(EVENT, kept!)).rejects.toMatchObject(IN_PROGRESS);
  });

  it("H51: refuses a handler that calls itself with the same event", async () => {
    const { options, context } = given();
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .handler(async (event: typeof EVENT, ctx): Promise<unknown> => handler(event, ctx));

    await expect(handler(EVENT, context())).rejects.toMatchObject(NESTED);
  });

  it("lets another operation run inside, and the same key again afterwards", async () => {
    const { options, context } = given();
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .handler(() =>
        runOnce({ ...options, operation: "charge", leaseSeconds: 60 }, "k1", EVENT, () => "inner"),
      );

    expect(await handler(EVENT, context())).toBe("inner");
    expect(await handler(EVENT, context())).toBe("inner");
  });

  it("is not nested in an after hook, nor in what its caller does next", async () => {
    const { options, context } = given();
    const again = () => runOnce({ ...options, leaseSeconds: 60 }, "k1", EVENT, () => "never");
    const handler = middy()
      .after(async (request) => {
        expect(request.context.functionName).toBe("fake-function");
        request.response = await again();
      })
      .use(idempotency({ ...options, key }))
      .handler(async () => "done");

    expect(await handler(EVENT, context())).toBe("done");
    expect(await again()).toBe("done");
  });

  it("nests two operations in one stack, each with its own record", async () => {
    const { options, context, store } = given();
    let effects = 0;
    const handler = middy()
      .use(idempotency({ ...options, operation: "outer", key }))
      .use(idempotency({ ...options, operation: "inner", key }))
      .handler(async () => ++effects);

    const answers = [await handler(EVENT, context()), await handler(EVENT, context())];
    for (const [recordKey] of store.records)
      if (recordKey.startsWith("outer")) store.alter(recordKey, undefined);
    const afterLoss = await handler(EVENT, context());

    expect([...answers, afterLoss]).toEqual([1, 1, 1]);
    expect([...store.records.values()].map((record) => record.state)).toEqual(["completed", "completed"]);
  });

  it("keeps the async context that its caller has set up", async () => {
    const { options, context } = given();
    const storage = new AsyncLocalStorage<string>();
    const handler = middy()
      .use(idempotency({ ...options, key }))
      .handler(async (event: typeof EVENT) => `${event.key} ${storage.getStore()}`);

    const answers = await storage.run("mine", async () => [
      await handler({ key: "a" }, context()),
      await handler({ key: "b" }, context()),
      storage.getStore(),
    ]);

    expect(answers).toEqual(["a mine", "b mine", "mine"]);
  });
});
