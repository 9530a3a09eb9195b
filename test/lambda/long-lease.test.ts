// A lease much longer than the invocation: reported once, and nothing is refused.
import { idempotent, idempotentBatch } from "onceonly";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sqsRecord } from "./batch/given.ts";
import { given } from "./given.ts";

describe("a lease that is longer than the time of the invocation", () => {
  const warn = vi.spyOn(console, "warn");
  beforeEach(() => {
    warn.mockReset();
  });
  afterEach(() => {
    warn.mockReset();
  });

  const handlerWith = (more: object) => {
    const { options, context } = given();
    const handler = idempotent(async (event: { id: string }) => event.id, {
      ...options,
      key: (event) => event.id,
      ...more,
    });
    return (id: string, remainingMs: number) => handler({ id }, context(remainingMs));
  };

  it("is reported once, with both numbers and what to do", async () => {
    const call = handlerWith({ leaseSeconds: 36_000 });

    expect([await call("a", 29_000), await call("b", 29_000)]).toEqual(["a", "b"]);

    expect(warn.mock.calls).toEqual([
      [
        'onceonly: `leaseSeconds` of "create-order" is 36000 s, and the invocation has 29 s left: a key stays in progress for 36000 s after a crash; leave `leaseSeconds` out, so that the lease lasts as long as the invocation',
      ],
    ]);
  });

  it("is reported by a batch too, once for all of its records", async () => {
    const { options, context } = given();
    const handler = idempotentBatch(() => {}, { ...options, leaseSeconds: 3600 });

    await handler({ Records: [sqsRecord("m1"), sqsRecord("m2")] }, context(3000));

    expect(warn).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["is at most twice that time", { leaseSeconds: 58 }],
    ["is not given", {}],
    ["is the deadline of an optimistic run", { leaseSeconds: 3600, mode: "optimistic" }],
  ])("is not reported if it %s", async (_, more) => {
    await handlerWith(more)("a", 29_000);

    expect(warn).not.toHaveBeenCalled();
  });

  it("is not reported late in an invocation, when the first call had enough time", async () => {
    const call = handlerWith({ leaseSeconds: 30 });

    await call("a", 29_000);
    await call("b", 500);

    expect(warn).not.toHaveBeenCalled();
  });
});
