// Lambda Managed Instances: many invocations in one process, and a timeout that ends nothing.
import {
  httpIdempotency,
  httpIdempotent,
  idempotency,
  idempotent,
  idempotentBatch,
  type RunOnceOptions,
  runOnce,
  saga,
} from "onceonly";
import type { MemoryWrite } from "onceonly/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Execution } from "../../lib/core/execution.ts";
import type { Step } from "../../lib/core/steps.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { describeOnMiddies } from "../kit/middies.ts";
import { gate } from "../kit/time/gate.ts";
import { sqsRecord } from "./batch/given.ts";
import { given } from "./given.ts";
import { v2Event } from "./http/given.ts";

beforeEach(() => {
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "orders");
  vi.stubEnv("AWS_LAMBDA_INITIALIZATION_TYPE", "lambda-managed-instances");
  vi.stubEnv("AWS_LAMBDA_MAX_CONCURRENCY", "64");
});
afterEach(() => vi.unstubAllEnvs());

const INVOCATIONS = Array.from({ length: 64 }, (_, index) => `key-${index}`);

/** What a handler does: it says who it is, works until its gate opens, and answers with all that it was given. */
type Work = (execution: Execution) => Promise<object>;
/** One invocation, as the platform makes it. */
type Invoke = (key: string, context: object) => Promise<unknown>;
type AdapterOf = (work: Work, options: object) => Invoke;

interface Given {
  readonly idempotency: Execution;
}

const key = (event: { key: string }) => event.key;
const scope = (event: { key: string }) => `tenant of ${event.key}`;
const post = (key: string) => v2Event({ headers: { "Idempotency-Key": `"${key}"` }, body: key });
const answer = async (work: Promise<object>) => ({ statusCode: 201, body: JSON.stringify(await work) });
const bodyOf = async (answered: Promise<unknown>) =>
  JSON.parse(((await answered) as { body: string }).body) as unknown;

/** The execution as a step of it sees it. */
const within = (
  { key, scope, operation }: Execution,
  { attempt, signal, childKey }: Pick<Step, "attempt" | "signal" | "childKey">,
) => ({ key, scope, operation, attempt, signal, childKey: () => childKey() }) as unknown as Execution;

const ADAPTERS: Record<string, AdapterOf> = {
  wrapper: (work, options) => {
    const handler = idempotent((_: { key: string }, { idempotency }) => work(idempotency), {
      ...options,
      key,
      scope,
    } as never);
    return (key, context) => handler({ key }, context as never);
  },
  "HTTP wrapper": (work, options) => {
    const handler = httpIdempotent((_: object, { idempotency }) => answer(work(idempotency)), {
      ...options,
      scope: (event: { body: string }) => `tenant of ${event.body}`,
    } as never);
    return (key, context) => bodyOf(handler(post(key) as never, context as never));
  },
  runOnce: (work, options) => (key, context) =>
    runOnce(
      { ...options, scope: `tenant of ${key}`, context } as RunOnceOptions<MemoryWrite>,
      key,
      { key },
      work,
    ),
  "a step": (work, options) => {
    const handler = idempotent(
      ({ key }: { key: string }, { idempotency }) =>
        idempotency.step(`work of ${key}`, (step) => work(within(idempotency, step))),
      { ...options, key, scope } as never,
    );
    return (key, context) => handler({ key }, context as never);
  },
  "a saga": (work, options) => {
    const place = saga<Execution>("place", [
      { name: "work", run: (step) => work(within(step.input, step)), compensate: () => {} },
    ]);
    const handler = idempotent(
      async (_: { key: string }, { idempotency }) =>
        (await place.run(idempotency as Execution, idempotency as Execution)).work,
      { ...options, key, scope } as never,
    );
    return (key, context) => handler({ key }, context as never);
  },
  "runOnce without a context": (work, options) => (key) =>
    runOnce({ ...options, scope: `tenant of ${key}` } as RunOnceOptions<MemoryWrite>, key, { key }, work),
};

function interleaves(adapterOf: AdapterOf) {
  it("H61, H44: 64 interleaved invocations of one process share nothing", async () => {
    const { clock, options, context, store } = given();
    const gates = new Map(INVOCATIONS.map((each) => [each, gate()]));
    const signals = new Map<string, AbortSignal>();
    const invoke = adapterOf(async (execution) => {
      const { key, scope, attempt, operation } = execution;
      signals.set(key, execution.signal);
      await gates.get(key)?.opened;
      return { key, scope, attempt, operation, child: execution.childKey("charge") };
    }, options);
    const answered = Promise.allSettled(INVOCATIONS.map((each) => invoke(each, context(900_000))));
    await clock.advance(25_000);
    const lost = "key-7";
    for (const [recordKey, { token }] of store.records)
      if (token && recordKey.includes("tenant of key-7#")) store.alter(recordKey, { token: "another's" });
    await clock.advance(25_000);

    const aborted = [...signals].filter(([, signal]) => signal.aborted).map(([each]) => each);
    expect(aborted).toEqual([lost]);
    for (const [index, each] of INVOCATIONS.toReversed().entries()) {
      gates.get(each)?.open();
      if (index % 5 === 0) await clock.advance(100);
    }

    const results = (await answered).flatMap((each) =>
      each.status === "fulfilled" ? [each.value as Result] : [],
    );
    const own = results.filter(({ child }) => child !== undefined);
    expect(own.map(({ key }) => key)).toEqual(INVOCATIONS.filter((each) => each !== lost));
    expect(own).toEqual(
      own.map(({ key, child }) => ({
        key,
        scope: `tenant of ${key}`,
        attempt: 1,
        operation: "create-order",
        child,
      })),
    );
    expect(new Set(own.map(({ child }) => child)).size).toBe(63);
    expect(new Set([...store.records.values()].map(({ token }) => token)).size).toBe(64);
    expect(clock.sleepers).toBe(0);
  });
}

interface Result {
  readonly key: string;
  readonly child?: string;
}

describe.each(Object.entries(ADAPTERS))("%s", (_, adapterOf) => interleaves(adapterOf));

describeOnMiddies("a Middy stack", (middy) => {
  describe("of events", () =>
    interleaves((work, options) => {
      const handler = middy()
        .use(idempotency({ ...options, key, scope } as never))
        .handler(((_: unknown, { idempotency }: Given) => work(idempotency)) as never);
      return (key, context) => handler({ key } as never, context as never) as Promise<unknown>;
    }));

  describe("of HTTP", () =>
    interleaves((work, options) => {
      const once = httpIdempotency({
        ...options,
        scope: (event: { body: string }) => `tenant of ${event.body}`,
      } as never);
      const handler = middy()
        .use(once)
        .handler(once.handler((_: unknown, { idempotency }: Given) => answer(work(idempotency))) as never);
      return (key, context) => bodyOf(handler(post(key) as never, context as never) as Promise<unknown>);
    }));

  it("H61: a stack that timed out early with an unseen end is renewed no longer: nothing would ever stop it", async () => {
    const { clock, options, context } = given();
    const handler = middy({
      timeoutEarlyInMillis: 29_990,
      timeoutEarlyResponse: (() => "timed out") as () => void,
    })
      .use(idempotency({ ...options, key } as never))
      .handler((() => new Promise(() => {})) as never);

    await (handler({ key: "k" } as never, context() as never) as Promise<unknown>).catch(() => {});

    expect(clock.sleepers).toBe(0);
  });

  it("H61: a handler that reports its end is renewed until then, though its stack timed out early", async () => {
    const { clock, options, context, states, store } = given();
    const { opened, open } = gate<string>();
    const once = idempotency<{ key: string }>({ ...options, key } as never);
    const handler = middy({
      timeoutEarlyInMillis: 29_990,
      timeoutEarlyResponse: (() => "timed out") as () => void,
    })
      .use(once)
      .handler(once.handler(() => opened) as never);
    expect(await handler({ key: "k" } as never, context() as never)).toBe("timed out");

    await clock.advance(60_000);

    const [record] = store.records.values();
    expect(record?.leaseEndsAt).toBe(clock.now() + 35_000);
    open("late");
    await clock.advance(0);
    expect([states(), clock.sleepers]).toEqual([["completed"], 0]);
  });
});

describe("a batch", () => {
  it("H61, H44: 64 interleaved batches of one process share nothing", async () => {
    const { clock, options, context, store } = given();
    const gates = new Map(INVOCATIONS.map((each) => [each, gate()]));
    const seen: string[] = [];
    const handler = idempotentBatch(
      async ({ body }: { body: string }, { idempotency }) => {
        await gates.get(body)?.opened;
        seen.push(`${body} ${idempotency.key} ${idempotency.attempt} ${idempotency.signal.aborted}`);
      },
      { ...options, key: ({ body }: { body: string }) => body } as never,
    );
    const batches = INVOCATIONS.map((each) =>
      handler({ Records: [sqsRecord(each, each)] } as never, context(900_000)),
    );
    await clock.advance(60_000);

    for (const each of INVOCATIONS.toReversed()) gates.get(each)?.open();

    for (const batch of await Promise.all(batches)) expect(batch).toEqual({ batchItemFailures: [] });
    expect(seen).toEqual(INVOCATIONS.toReversed().map((each) => `${each} ${each} 1 false`));
    expect(new Set([...store.records.values()].map(({ token }) => token)).size).toBe(64);
    expect(clock.sleepers).toBe(0);
  });

  it("H61: a record that runs on after its batch has answered keeps its claim, and its end is on record", async () => {
    const { clock, options, context, states } = given();
    const { opened, open } = gate();
    let runs = 0;
    const handler = idempotentBatch(
      async () => {
        runs++;
        await opened;
      },
      { ...options, onRecordError: () => {} } as never,
    );
    const call = () =>
      clock.run(handler({ Records: [sqsRecord("m1"), sqsRecord("m2")] } as never, context(10_000)));
    const left = { batchItemFailures: [{ itemIdentifier: "m1" }, { itemIdentifier: "m2" }] };
    const first = await call().catch((error: unknown) => error);
    expect(first).toMatchObject(left);
    await clock.advance(120_000);

    expect(await call().catch((error: unknown) => error)).toMatchObject(left);
    open();
    await clock.advance(0);

    expect([runs, states()]).toEqual([2, ["completed", "completed"]]);
    expect(await call()).toEqual({ batchItemFailures: [] });
  });
});

describe("a lease that is renewed for nothing", () => {
  const warn = vi.spyOn(console, "warn");
  beforeEach(() => void warn.mockReset());
  afterEach(() => void warn.mockReset());

  const handlerWith = (more: object) => {
    const { options, context } = given();
    const handler = idempotent(async (event: { id: string }) => event.id, {
      ...options,
      key: (event: { id: string }) => event.id,
      ...more,
    });
    return (id: string, remainingMs: number) => handler({ id }, context(remainingMs));
  };

  it("is reported once, with both numbers and what to do", async () => {
    vi.unstubAllEnvs();
    const call = handlerWith({ renewLease: true });

    expect([await call("a", 29_000), await call("b", 29_000)]).toEqual(["a", "b"]);

    expect(warn.mock.calls).toEqual([
      [
        'onceonly: `renewLease` of "create-order" gains nothing: its lease is 30 s, and the invocation has 29 s left; leave `renewLease` out, so that the lease lasts as long as the invocation',
      ],
    ]);
  });

  it.each([
    ["the invocation is longer than the lease", {}, 900_000],
    ["the process goes on after its invocation", { AWS_LAMBDA_MAX_CONCURRENCY: "64" }, 3000],
  ])("is not reported if %s", async (_, env, remainingMs) => {
    vi.unstubAllEnvs();
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const store = given();
    await handlerWith({ renewLease: true, store: intercepted(store.store, (_, request) => request()) })(
      "a",
      remainingMs,
    );

    expect(warn).not.toHaveBeenCalled();
  });
});
