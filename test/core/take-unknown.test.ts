// What a takeover writes, how long it tries, and which keys it leaves.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { StoreUnavailableError } from "../../lib/core/errors.ts";
import { identify } from "../../lib/core/identity.ts";
import type { IdempotencyRecord } from "../../lib/core/record.ts";
import { endingOf, recordFindings, retryUntil, takeUnknown } from "../../lib/core/take-unknown.ts";
import { unknownOutcomeOf } from "../../lib/core/unknown-outcome.ts";
import { fakeClock, fakeRandom, MemoryStore } from "../../lib/testing/index.ts";
import { intercepted, type StoreMethod, watched } from "../kit/faults/faulty-store.ts";
import { START } from "./world.ts";

const { recordKey } = identify("charge", "", "k");
const begun = { state: "begun", attempt: 1, at: START, tracked: false } as const;

const record = (change: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
  version: 1,
  state: "held",
  token: "t-1",
  fingerprint: "f",
  attempt: 1,
  createdAt: START,
  leaseEndsAt: START + 30_000,
  ...change,
});

/** A store with one record, and the requests that are made to it. */
function given(
  change: Partial<IdempotencyRecord> = {},
  answers: Partial<Record<StoreMethod, (given: never) => unknown>> = {},
) {
  const memory = new MemoryStore();
  (memory.records as Map<string, IdempotencyRecord>).set(recordKey, record(change));
  const { store: watching, requests } = watched(memory);
  const store = intercepted(watching, async (method, request, [about]) => {
    const answer = await request();
    return answers[method] ? answers[method](about as never) : answer;
  });
  const clock = fakeClock(START + 60_000);
  const requester = { store, clock, random: fakeRandom("taker"), patienceMs: 2000 };
  const take = (more: { interrupts?: boolean } = {}) =>
    takeUnknown({ ...requester, leaseMs: 30_000, mayTake: () => true, ...more }, recordKey);
  return { memory, requests, clock, requester, take, now: clock.now() };
}

async function taken(...parameters: Parameters<typeof given>) {
  const world = given(...parameters);
  const answer = await world.take();
  if (!answer.claim) throw new Error("the key was not taken over");
  const record = (known: Parameters<typeof endingOf>[1] = []) =>
    recordFindings(world.requester, answer, {
      ...{ known, ending: endingOf(answer.seen, known, false), at: world.now, retentionSeconds: 60 },
      evidence: '{"verdict":"unknown","by":"ana"}',
    });
  return { ...world, record };
}

describe("takeUnknown", () => {
  it("reads the record itself, and claims it for the time it was given", async () => {
    const { requests, take, now } = given();

    expect(await take()).toMatchObject({ claim: { attempt: 2 }, now });
    expect(requests).toMatchObject([
      ["find", recordKey, { consistent: true }],
      ["claim", { leaseEndsAt: now + 30_000 }, { attempt: 1 }],
    ]);
  });

  it("interrupts only an attempt that is in progress", async () => {
    const live = { state: "in-progress", leaseEndsAt: START + 90_000 } as const;
    const expired = { state: "in-progress", expiresAt: START / 1000 + 40 } as const;

    expect((await given(live).take()).claim).toBeUndefined();
    expect((await given(live).take({ interrupts: true })).claim).toBeDefined();
    expect((await given(expired).take({ interrupts: true })).claim).toBeUndefined();
  });
});

describe("recordFindings", () => {
  it("releases a key in one write", async () => {
    const { requests, record, now } = await taken();

    expect(await record()).toMatchObject({ settled: true });
    expect(requests.slice(2)).toMatchObject([
      [
        "settle",
        {
          ...{ state: "released", isListed: true, dropsSteps: false, writes: [], messages: [], now },
          expiresAt: Math.ceil(now / 1000) + 60,
        },
      ],
    ]);
  });

  it.each([
    [undefined, false],
    [{ a: begun }, true],
  ])("completes a key with the steps %j, and drops them: %s", async (steps, dropsSteps) => {
    const { requests, record } = await taken(steps && { steps });
    await record([{ hasHappened: true, result: "1" }]);

    expect(requests.at(-1)).toMatchObject(["settle", { state: "completed", result: "1", dropsSteps }]);
  });

  it("keeps a key on its list that has tracked steps", async () => {
    const { requests, record } = await taken({ steps: { a: { ...begun, state: "done", tracked: true } } });
    await record();

    expect(requests.at(-1)).toMatchObject(["settle", { state: "released", isListed: false }]);
    expect(requests.at(-1)?.[1]).not.toHaveProperty("expiresAt");
  });

  it("writes each known step, with times that grow", async () => {
    const { requests, record, now } = await taken({ steps: { a: begun, b: begun } });
    await record([
      { step: "a", hasHappened: true, result: "1" },
      { step: "b", hasHappened: false },
    ]);

    expect(requests.slice(2)).toMatchObject([
      ["writeStep", { name: "a", step: { state: "done", at: now }, leaseEndsAt: now + 30_000, writes: [] }],
      [
        "writeStep",
        { name: "b", step: { state: "undone", at: now + 1 }, leaseEndsAt: now + 30_001, writes: [] },
      ],
      ["settle", { state: "released" }],
    ]);
  });

  it("H8: counts as done if the key was claimed after the write, whose answer was lost", async () => {
    const { record } = await taken(
      {},
      {
        settle: ({ evidence }: { evidence: string }) => ({
          settled: false,
          record: { state: "in-progress", evidence },
        }),
      },
    );

    expect(await record()).toEqual({ settled: true });
  });

  it.each([[undefined], [{ state: "in-progress", evidence: "{}" }]])(
    "reports that another process was first: %j",
    async (other) => {
      const { record } = await taken({}, { settle: () => ({ settled: false, record: other }) });

      expect(await record()).toEqual({ settled: false, record: other });
    },
  );
});

describe("endingOf", () => {
  const tracked = { ...begun, state: "done", tracked: true } as const;

  it.each<[string, IdempotencyRecord["steps"], Parameters<typeof endingOf>[1], object]>([
    ["no step and nothing known", undefined, [], { isOver: false, isHeld: false, isTracked: false }],
    ["an open step and nothing known", { a: begun }, [], { isHeld: true }],
    [
      "two open steps, one known",
      { a: begun, b: begun },
      [{ step: "a", hasHappened: true }],
      { isHeld: true },
    ],
    [
      "two open steps, both known",
      { a: begun, b: begun },
      [
        { step: "a", hasHappened: true },
        { step: "b", hasHappened: true },
      ],
      { isHeld: false, isOver: false },
    ],
    [
      "a tracked step among others",
      { a: { ...tracked, tracked: false }, b: tracked },
      [],
      { isTracked: true },
    ],
    [
      "a tracked step, and the whole key known",
      { b: tracked },
      [{ hasHappened: true }],
      { isTracked: false, isOver: true },
    ],
  ])("%s", (_, steps, known, wanted) => {
    expect(endingOf(record(steps && { steps }), known, false)).toMatchObject(wanted);
  });
});

describe("retryUntil", () => {
  const clock = fakeClock(START);
  const ports = { clock, random: fakeRandom("retry") };

  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it.each([
    [0, 5000],
    [20_000, 20_000],
    [60_000, 30_000],
  ])("H80: R2: with %s ms left waits %s ms for an answer", async (leftMs, waitedMs) => {
    let isEnded = false;
    const end = retryUntil(ports, clock.now() + leftMs, () => new Promise(() => {})).catch(() => {
      isEnded = true;
    });
    const isOver = () => isEnded || clock.sleepers > 0;

    await vi.advanceTimersByTimeAsync(waitedMs - 1);
    expect(isOver()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver()).toBe(true);

    await clock.advance(leftMs);
    await vi.advanceTimersByTimeAsync(30_000);
    await end;
  });

  it("gives up when the next try would come at its end", async () => {
    const tries = vi.fn(() => Promise.reject(new StoreUnavailableError("unreachable", undefined)));

    await expect(retryUntil(ports, clock.now() + 50, tries)).rejects.toThrow();
    expect(tries).toHaveBeenCalledTimes(1);
  });
});

describe("unknownOutcomeOf", () => {
  const listed = (change: Partial<IdempotencyRecord>) =>
    unknownOutcomeOf(recordKey, record(change), START + 7, START + 100_000);

  it("counts a held key from when it was held, and an abandoned one from the end of its lease", () => {
    expect(listed({})).toMatchObject({ state: "held", since: START + 7 });
    expect(listed({ state: "in-progress" })).toMatchObject({ state: "abandoned", since: START + 30_000 });
    expect(listed({ state: "released" })).toMatchObject({ state: "unfinished", since: START + 7 });
  });

  it("lists a held key whatever its expiry, and no other that expires", () => {
    expect(listed({ expiresAt: 1 })).toMatchObject({ state: "held" });
    expect(listed({ state: "in-progress", expiresAt: 1 })).toBeUndefined();
    expect(listed({ state: "released", expiresAt: 1 })).toBeUndefined();
  });
});
