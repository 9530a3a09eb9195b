// Erasing in memory, behind the stores that stand in front of others.
import { describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../lib/core/errors.ts";
import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { eraseResult } from "../../lib/dynamodb/erase-result.ts";
import { cached } from "../../lib/stores/cached.ts";
import { encrypted } from "../../lib/stores/encrypted.ts";
import { redacted } from "../../lib/stores/redacted.ts";
import { MemoryStore } from "../../lib/testing/memory-store.ts";
import { type KeyService, keyService } from "../stores/privacy-given.ts";
import { ERASURES, type ErasedWorld } from "./plays/erasures.ts";

function memoryWorld(front: (store: MemoryStore) => Partial<ErasedWorld> = () => ({})): ErasedWorld {
  const store = new MemoryStore();
  return {
    store,
    hasSteps: true,
    held: async (recordKey) =>
      JSON.stringify([
        store.records.get(recordKey) ?? null,
        [...store.results].filter(([address]) => address.startsWith(recordKey)),
      ]),
    setVersion: async (recordKey, version) => store.alter(recordKey, { version }),
    ...front(store),
  };
}

const WORLDS: Readonly<Record<string, () => ErasedWorld>> = {
  MemoryStore: () => memoryWorld(),
  "a store that is cached, erased behind the cache": () =>
    memoryWorld((store) => ({ eraser: cached(store, { rememberSeconds: 0 }) })),
  "a store that is cached, erased through the cache": () =>
    memoryWorld((store) => ({ store: cached(store, { rememberSeconds: 60 }) })),
};

describe.each(Object.entries(WORLDS))("%s", (_, world) => {
  it.each(ERASURES)("$name", ({ check }) => check(world()));
});

const ERASURE = { by: "ana", why: "request 12" };
const askedOf = ({ asked }: KeyService) => asked.decrypt.length + asked.generate.length;
const never = () => expect.unreachable("it ran again");

describe("erasing around a store", () => {
  it.each(["through `encrypted`", "behind `encrypted`"])(
    "H38, H39: %s asks no key service, and a handler with the keys replays nothing",
    async (way) => {
      const behind = new MemoryStore();
      const keys = keyService();
      const store = encrypted(behind, { keys });
      const options = { operation: "pay", store, leaseSeconds: 30 };
      await runOnce(options, "k", {}, () => "canary-4711");
      const asked = askedOf(keys);

      const eraser = way.startsWith("through") ? store : behind;
      expect(await eraseResult({ operation: "pay", store: eraser }, "k", ERASURE)).toEqual({ erased: true });

      expect(askedOf(keys)).toBe(asked);
      await expect(runOnce(options, "k", {}, never)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    },
  );

  it("H38, H39: a redacted result is erased, and `redact` is not asked", async () => {
    const store = redacted(new MemoryStore(), ({ id }: { id: string }) => ({ id }));
    const options = { operation: "pay", store, leaseSeconds: 30 };
    await runOnce(options, "k", {}, () => ({ id: "canary-4711", card: "4242" }));

    expect(await eraseResult({ operation: "pay", store }, "k", ERASURE)).toEqual({ erased: true });

    await expect(runOnce(options, "k", {}, never)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
  });

  it("H39: if the store fails, it is asked again, and then the caller is asked to retry", async () => {
    const behind = new MemoryStore();
    const options = { operation: "pay", store: behind, leaseSeconds: 30 };
    await runOnce(options, "k", {}, () => "canary-4711");
    let failures = 1;
    const store = new Proxy(behind, {
      get(target, name) {
        const value: unknown = name === "erase" ? undefined : Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return async (...given: unknown[]) => {
          const answer = await Reflect.apply(value, target, given);
          if (name === "insert" && failures-- > 0) throw new StoreUnavailableError("unreachable", undefined);
          return answer;
        };
      },
    });

    // The first answer is lost: its repetition finds the record that it has made.
    expect(await eraseResult({ operation: "pay", store }, "k", ERASURE)).toEqual({ erased: true });
    expect(behind.records.values().next().value).toMatchObject({ attempt: 2 });

    failures = Number.POSITIVE_INFINITY;
    const clock = { now: () => Date.now(), sleep: async () => {} };
    const later = { now: Date.now() };
    const passing = { ...clock, now: () => (later.now += 500) };
    await runOnce(options, "other", {}, () => "canary-4711");
    const erasing = eraseResult({ operation: "pay", store, clock: passing }, "other", ERASURE);
    await expect(erasing).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
  });

  it.each([
    ["in-progress", { state: "in-progress", token: "another" }],
    ["absent", undefined],
  ] as const)("H39: a key that is %s by then is not erased", async (state, change) => {
    const behind = new MemoryStore();
    const { recordKey } = identify("pay", "", "k");
    await runOnce({ operation: "pay", store: behind, leaseSeconds: 30 }, "k", {}, () => "canary-4711");
    const store = new Proxy(behind, {
      get(target, name) {
        const value: unknown = name === "erase" ? undefined : Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => {
          if (name === "insert") target.alter(recordKey, change);
          return Reflect.apply(value, target, given);
        };
      },
    });

    expect(await eraseResult({ operation: "pay", store }, "k", ERASURE)).toEqual({ erased: false, state });
  });
});
