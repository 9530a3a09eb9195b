// Two processes with one store behind one cache: what they ask of the store is counted, and time is the test's.
import { randomUUID } from "node:crypto";
import { type Execution, runOnce } from "onceonly";
import type { EngineOptions } from "onceonly/store-kit";
import { cached } from "onceonly/stores";
import { MemoryStore, type MemoryWrite } from "onceonly/testing";
import type { Clock } from "../../lib/core/clock.ts";
import { identify } from "../../lib/core/identity.ts";
import type { CachedOptions } from "../../lib/stores/cached.ts";
import { fromIoredis } from "../../lib/valkey/from-ioredis.ts";
import { type ValkeyCacheOptions, valkeyCache } from "../../lib/valkey/valkey-cache.ts";
import type { ValkeyClient } from "../../lib/valkey/valkey-client.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { portOf, redisOf } from "./given.ts";

type Options = Partial<EngineOptions<MemoryWrite>> & { key?: string; scope?: string; input?: unknown };

/** The time of this machine, and as much more as a test says. Nothing ends for being slow, unless the test says so. */
function ownClock() {
  let ahead = 0;
  const sleepers = new Set<() => void>();
  const clock: Clock = {
    now: () => Date.now() + ahead,
    sleep: (_, signal) =>
      new Promise((resolve) => {
        signal?.addEventListener("abort", () => resolve());
        sleepers.add(resolve);
      }),
  };
  return {
    clock,
    advance: (ms: number) => {
      ahead += ms;
    },
    /** Sleepers on the clock wake. */
    wake: () => {
      for (const wake of sleepers) wake();
      sleepers.clear();
    },
  };
}

export async function cacheWorld(
  given: Partial<ValkeyCacheOptions> & { readonly front?: CachedOptions } = {},
  durable: MemoryStore = new MemoryStore(),
) {
  const { front, ...cacheOptions } = given;
  const admin = redisOf(await portOf());
  const prefix = given.prefix ?? `cache-${randomUUID()}`;
  const client: ValkeyClient = given.client ?? fromIoredis(admin);
  const time = ownClock();
  const requests: string[] = [];
  const behind = intercepted(durable, (method, request) => {
    requests.push(method);
    return request();
  });
  const cache = valkeyCache({ client, prefix, ...cacheOptions });
  const store = cached(behind, { in: cache, clock: time.clock, ...front });
  const recordKeyOf = ({ operation = "pay", scope = "", key = "key-1" }: Options) =>
    identify(operation, scope, key).recordKey;

  const call = <T>(
    work: (execution: Execution<MemoryWrite>) => T | Promise<T>,
    { key = "key-1", input = {}, ...options }: Options = {},
  ) => {
    const base = { operation: "pay", store, clock: time.clock, leaseSeconds: 30, renewLease: false };
    return runOnce<T, MemoryWrite>({ ...base, ...options }, key, input, work);
  };

  return {
    ...time,
    admin,
    prefix,
    cache,
    durable,
    behind,
    store,
    requests,
    call,
    recordKeyOf,
    never: () => {
      throw new Error("the handler ran again");
    },
    /** Runs, and is put into the cache by a first replay. */
    async remember(result: unknown = "done", options: Options = {}) {
      await call(() => result, options);
      await call(() => "again", options);
      requests.length = 0;
    },
    entryKey: async (options: Options = {}) => {
      const [key, ...others] = (await admin.keys(`${prefix}:*`)).filter((each) =>
        each.endsWith(recordKeyOf(options)),
      );
      if (key === undefined || others.length > 0) throw new Error("there is not exactly one entry");
      return key;
    },
  };
}
