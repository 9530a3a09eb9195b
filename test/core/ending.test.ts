// Requests outside of calls: each ends, also if a client never answers.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ending, inTime, REQUEST_MS } from "../../lib/core/ending.ts";
import { releaseRecord } from "../../lib/core/release-record.ts";
import { resolveOutcome } from "../../lib/core/resolve-outcome.ts";
import { reconciler } from "../../lib/reconciler/reconciler.ts";
import { fakeClock, fakeLambdaContext, MemoryStore } from "../../lib/testing/index.ts";

const never = () => new Promise<never>(() => {});

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** The code of its error, once the time of the system and of the clock has passed. */
async function endOf(work: Promise<unknown>, clock = fakeClock()): Promise<unknown> {
  const end = work.then(
    () => "no error",
    (error) => error.code ?? error,
  );
  // Each try ends after its time, and is repeated until the work's own time is over.
  for (let turn = 0; turn < 10; turn++) {
    await vi.advanceTimersByTimeAsync(REQUEST_MS);
    await clock.advance(REQUEST_MS);
  }
  return Promise.race([end, Promise.resolve("no end")]);
}

class Silent {
  readonly #name = "silent";
  readonly answers = "text";
  name = () => this.#name;
  load = async () => this.#name;
  nothing = () => undefined;
  find = never;
  async *blank() {
    yield await never();
  }
  async *list() {
    yield 1;
    yield await never();
  }
  async *pages(closed: () => void) {
    try {
      yield 1;
      yield 2;
    } finally {
      closed();
    }
  }
}

describe("ending", () => {
  let silent: Silent;
  beforeEach(() => {
    silent = ending(new Silent());
  });

  it("H80: R2: passes on responses, and ends calls that get none", async () => {
    expect([silent.name(), silent.answers, await silent.load()]).toEqual(["silent", "text", "silent"]);
    expect(silent.nothing()).toBeUndefined();
    expect(await endOf(silent.find())).toBe("STORE_UNAVAILABLE");
  });

  it("H80: R2: ends each page of a list, and closes a list that isn't read to its end", async () => {
    const read: number[] = [];
    const readAll = async () => {
      for await (const each of silent.list()) read.push(each);
    };
    const closed = vi.fn();

    expect(await endOf(readAll())).toBe("STORE_UNAVAILABLE");
    for await (const _ of silent.pages(closed)) break;
    for await (const each of silent.pages(closed)) read.push(each);

    expect(read).toEqual([1, 1, 2]);
    expect(closed).toHaveBeenCalledTimes(2);
  });

  it("H80: R2: ends a list whose first page doesn't come", async () => {
    const readAll = async () => {
      for await (const _ of silent.blank());
    };

    expect(await endOf(readAll())).toBe("STORE_UNAVAILABLE");
  });

  it("H80: R2: leaves a list that can't be closed", async () => {
    const { list } = ending({
      list: (): AsyncIterable<number> => ({
        [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: 1 }) }),
      }),
    });
    const read: number[] = [];
    for await (const each of list()) {
      read.push(each);
      break;
    }

    expect(read).toEqual([1]);
  });

  it("H80: R2: says how long it has waited", async () => {
    const end = inTime(never(), 1500).catch((error) => error);
    await vi.advanceTimersByTimeAsync(1500);

    expect(await end).toMatchObject({
      failure: "unreachable",
      message: expect.stringContaining("no answer in 1500 ms"),
    });
  });
});

describe("a store that never answers", () => {
  const silentAt = (...names: string[]) =>
    Object.assign(
      Object.create(new MemoryStore()),
      Object.fromEntries(names.map((name) => [name, never])),
    ) as MemoryStore;
  const clock = fakeClock();
  const person = { by: "ana", why: "looked it up" };

  it.each<[string, () => Promise<unknown>]>([
    [
      "resolveOutcome",
      () =>
        resolveOutcome({ operation: "pay", store: silentAt("find"), clock }, "key", {
          outcome: "did-not-happen",
          ...person,
        }),
    ],
    ["releaseRecord", () => releaseRecord({ store: silentAt("find"), clock }, "pay##key", person)],
  ])("H80: R2: ends %s", async (_, call) => {
    expect(await endOf(call(), clock)).toBe("STORE_UNAVAILABLE");
  });

  it("H80: R2: ends a run of the reconciler whose list doesn't come", async () => {
    const store = Object.assign(Object.create(new MemoryStore()), {
      unknownOutcomes: async function* () {
        yield await never();
      },
    }) as MemoryStore;
    const handler = reconciler({ store, operations: { pay: "hold" }, clock, observe: () => {} });

    expect(await endOf(handler({}, fakeLambdaContext({ clock })), clock)).toBe("STORE_UNAVAILABLE");
  });
});
