import type { FakeLambdaContext } from "onceonly/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { orderEvent } from "../../../../test/kit/shop/order-client.ts";
import type { Invocation } from "../../lib/simulator/invocation.ts";
import type { LambdaHandler, SimulatedFunction } from "../../lib/simulator/simulated-function.ts";
import type { Simulator } from "../../lib/simulator/simulator.ts";
import { faultsOn, givenAws, MINUTE, rowsOf, slowOnce } from "./given.ts";
import "../../../../test/kit/shop/environment.ts";

const { handler: createOrder } = await import("../../../../functions/create-order.ts");

beforeAll(() => {
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
});

afterAll(() => {
  vi.restoreAllMocks();
});

const isCommit = ({ operation }: { operation: string }) => operation === "TransactWriteItems";

async function untilAnswered(aws: Simulator, fn: SimulatedFunction, event: unknown) {
  for (let tries = 1; tries <= 60; tries++) {
    const invocation = await fn.invoke(event);
    const value = invocation.outcome === "returned" ? Object(invocation.value) : {};
    if (value.statusCode === 201) return { ...invocation, tries, at: aws.clock.now() };
    await aws.clock.sleep(1000);
  }
  throw new Error("no order after 60 tries");
}

function bodyOf(invocation: Invocation | undefined): unknown {
  return invocation?.outcome === "returned" && Object(invocation.value).body;
}

describe("clocks of hosts", () => {
  const twice = async (clockSkewSeconds: number) => {
    const aws = givenAws();
    const fn = aws.lambda(slowOnce(20_000, clockSkewSeconds), { skewsMs: [-5 * MINUTE, 5 * MINUTE] });
    await aws.run(async () => {
      const first = fn.invoke({ key: "k" });
      await aws.clock.sleep(5000);
      await Promise.all([first, fn.invoke({ key: "k" })]);
    });
    return (await rowsOf(aws, "effects")).length;
  };

  it("H4: 5 minutes behind and ahead, a grace that covers both keeps the effect single", async () => {
    expect(await twice(600)).toBe(1);
  });

  it("H4: the same hosts without that grace have it twice", async () => {
    expect(await twice(0)).toBe(2);
  });
});

describe("asynchronous invocations", () => {
  it("H41: three attempts and a duplicate from upstream make one order", async () => {
    const aws = givenAws();
    aws.faults = faultsOn(isCommit, { kind: "crash", when: "before" }, { kind: "crash", when: "after" });
    const ids: string[] = [];
    const fn = aws.lambda(
      (event: never, context: never) => {
        ids.push((context as FakeLambdaContext).awsRequestId);
        return createOrder(event, context, undefined as never);
      },
      { timeoutSeconds: 10 },
    );

    const [first, duplicate] = await aws.run(async () => [
      await fn.invokeAsync(orderEvent("k")),
      await fn.invokeAsync(orderEvent("k")),
    ]);

    expect(await rowsOf(aws, "orders")).toHaveLength(1);
    expect([first?.outcome, duplicate?.outcome]).toEqual(["returned", "returned"]);
    expect(ids).toEqual([first?.requestId, first?.requestId, first?.requestId, duplicate?.requestId]);
    expect(first?.requestId).not.toBe(duplicate?.requestId);
  });
});

describe("timeouts", () => {
  it("H42: in whichever millisecond Lambda ends an invocation, one order comes of it, no later than its lease", async () => {
    for (let timeoutMs = 1; timeoutMs <= 24; timeoutMs++) {
      const aws = givenAws({ seed: timeoutMs });
      const cut = aws.lambda(createOrder, { name: "cut", timeoutSeconds: timeoutMs / 1000 });
      const whole = aws.lambda(createOrder, { name: "whole", timeoutSeconds: 10 });
      const startedAt = aws.clock.now();

      const answered = await aws.run(async () => {
        await cut.invoke(orderEvent("k"));
        return untilAnswered(aws, whole, orderEvent("k"));
      });

      // The lease is the remaining time and 5 seconds of grace; a client asks each second.
      expect([timeoutMs, answered.at - startedAt < 7000]).toEqual([timeoutMs, true]);
      expect([timeoutMs, (await rowsOf(aws, "orders")).length]).toEqual([timeoutMs, 1]);
    }
  });
});

describe("environments that stand still", () => {
  it("H43: a commit that leaves 10 minutes late is fenced, and so is its repetition by the SDK", async () => {
    const aws = givenAws();
    aws.faults = faultsOn(isCommit, { kind: "freeze", when: "before", ms: 10 * MINUTE });
    // Middy's early timeout ends the call as it thaws, and the environment with it: the SDK needs a second to repeat.
    const lingering: LambdaHandler = async (event: never, context: never) => {
      try {
        return await createOrder(event, context, undefined as never);
      } finally {
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    };
    const fn = aws.lambda(lingering, { timeoutSeconds: 10 });

    const [answered, replayed] = await aws.run(async () => {
      expect((await fn.invoke(orderEvent("k"))).outcome).toBe("timed-out");
      const winner = await untilAnswered(aws, fn, orderEvent("k"));
      await aws.clock.sleep(11 * MINUTE);
      return [winner, await untilAnswered(aws, fn, orderEvent("k"))];
    });

    const late = aws.trace.filter(({ at, io }) => at >= 10 * MINUTE && io && isCommit(io));
    expect(late.map(({ hostId, io, text }) => [hostId, io?.attempt, text])).toEqual([
      ["function-1#1", 1, "TransactionCanceledException [ConditionalCheckFailed, None]"],
      ["function-1#1", 2, "TransactionCanceledException [ConditionalCheckFailed, None]"],
    ]);
    expect(await rowsOf(aws, "orders")).toHaveLength(1);
    expect(bodyOf(replayed)).toBe(bodyOf(answered));
  });

  it("H43: work that the handler didn't await goes on when its environment is used again, and changes nothing", async () => {
    const aws = givenAws();
    // The second wait is over only after the thaw, when the claim has gone to the other invocation.
    const work = slowOnce([1000, 100], 5);
    const fn = aws.lambda(
      async (event: { key: string; isForgotten?: boolean }, context) => {
        if (!event.isForgotten) return work(event, context);
        void Promise.resolve(work(event, context)).catch(() => undefined);
        // Long enough for the claim, not for the work.
        await new Promise((resolve) => setTimeout(resolve, 100));
        return "early";
      },
      { timeoutSeconds: 10 },
    );

    await aws.run(async () => {
      await fn.invoke({ key: "k", isForgotten: true });
      await aws.clock.sleep(10 * MINUTE);
      // Thaws the environment: its timer fires late, after its claim has gone to this invocation.
      expect((await fn.invoke({ key: "k" })).outcome).toBe("returned");
      await aws.clock.sleep(MINUTE);
    });

    const [record] = await rowsOf(aws, "idempotency");
    expect(record?.attempt?.N).toBe("2");
    expect(record?.state?.S).toBe("completed");
  });
});

describe("environments and their module", () => {
  it("H44: invocations that interleave in one module keep their keys, and so do those that follow each other", async () => {
    const aws = givenAws();
    const fn = aws.lambda(createOrder, { name: "create-order" });
    const keys = Array.from({ length: 12 }, (_, index) => `key-${index}`);

    await aws.run(async () => {
      await Promise.all(keys.map((key) => fn.invoke(orderEvent(key))));
      for (const key of keys) await fn.invoke(orderEvent(key, "globex"));
    });

    const orders = await rowsOf(aws, "orders");
    const named = orders.map(({ tenant, idempotencyKey }) => `${tenant?.S} ${idempotencyKey?.S}`).sort();
    expect(named).toEqual(
      ["acme", "globex"].flatMap((tenant) => keys.map((key) => `${tenant} ${key}`)).sort(),
    );
  });

  it("H44: an environment that fails to start, or dies while it starts, is followed by one that works", async () => {
    const aws = givenAws();
    let starts = 0;
    const fn = aws.lambdaPerEnvironment(
      async () => {
        starts++;
        if (starts === 1) throw new Error("no configuration");
        if (starts === 2) await new Promise(() => undefined);
        return createOrder;
      },
      { timeoutSeconds: 10 },
    );

    const outcomes = await aws.run(async () => {
      const invocations = [];
      for (let turn = 0; turn < 3; turn++) invocations.push(await fn.invoke(orderEvent("k")));
      return invocations.map(({ outcome, hostId }) => [outcome, hostId]);
    });

    expect(outcomes).toEqual([
      ["threw", "function-1#1"],
      ["timed-out", "function-1#2"],
      ["returned", "function-1#3"],
    ]);
    expect(await rowsOf(aws, "orders")).toHaveLength(1);
  });
});
