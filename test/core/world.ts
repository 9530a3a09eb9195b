/** One world per test: virtual time, a store in memory, and everything the engine decides. */

import type { Decision, DecisionEvent } from "../../lib/core/decisions.ts";
import { perform } from "../../lib/core/engine.ts";
import { StoreUnavailableError } from "../../lib/core/errors.ts";
import type { Work } from "../../lib/core/execution.ts";
import { fingerprintsOf } from "../../lib/core/fingerprint.ts";
import { identify } from "../../lib/core/identity.ts";
import type { Call } from "../../lib/core/operation.ts";
import { type EngineOptions, resolveOptions } from "../../lib/core/options.ts";
import type { IdempotencyRecord } from "../../lib/core/record.ts";
import { type Outcome, resultOf } from "../../lib/core/refusal.ts";
import type { Store } from "../../lib/core/store.ts";
import {
  fakeClock,
  fakeRandom,
  MemoryStore,
  type MemoryStoreOptions,
  type MemoryWrite,
} from "../../lib/testing/index.ts";

export const START = 1_700_000_000_000;

type Options = Partial<EngineOptions<MemoryWrite>>;
type Request = Partial<Omit<Call, "identity" | "fingerprints">> & {
  key?: string;
  scope?: string;
  input?: unknown;
};

export function newWorld(defaults: Options = {}, storeOptions: MemoryStoreOptions = {}) {
  const clock = fakeClock(START);
  const memory = new MemoryStore(storeOptions);
  const random = fakeRandom("world");
  const events: DecisionEvent[] = [];

  function optionsOf(options: Options) {
    return resolveOptions<MemoryWrite>({
      operation: "create-order",
      store: memory,
      leaseSeconds: 30,
      clock,
      random,
      observe: (event) => events.push(event),
      ...defaults,
      ...options,
    });
  }

  return {
    clock,
    memory,
    events,
    decisions: (): Decision[] => events.map(({ decision }) => decision),

    /** One call through the engine; what it waits for on the clock does not pass by itself. */
    start(work: Work<MemoryWrite>, options: Options = {}, request: Request = {}): Promise<Outcome> {
      const resolved = optionsOf(options);
      const { key = "key-1", scope = "tenant-1", input = { item: "book" }, ...call } = request;
      const identity = identify(resolved.operation, scope, key);
      const about = { identity, fingerprints: fingerprintsOf(resolved.fingerprints, input), ...call };
      const outcome = perform(resolved, about, work).then((ended) => {
        resultOf(ended);
        return ended;
      });
      // Tests look at the outcome when they are ready.
      outcome.catch(() => {});
      return outcome;
    },

    /** One call, with time moving on as far as it takes; the result that the caller gets. */
    async call(work: Work<MemoryWrite>, options: Options = {}, request: Request = {}): Promise<unknown> {
      return (await clock.run(this.start(work, options, request))).result;
    },

    /** The only record. */
    record(): IdempotencyRecord {
      const [record, ...others] = memory.records.values();
      if (record === undefined || others.length > 0) throw new Error("there is not exactly one record");
      return record;
    },

    /** A business write that counts how often it was applied, and how often that was. */
    orderWrite: (condition?: MemoryWrite["condition"]): MemoryWrite => ({
      table: "orders",
      key: "order-1",
      item: (former) => ({ count: Number(former?.count ?? 0) + 1 }),
      ...(condition && { condition }),
    }),
    orders: () => Number(memory.table("orders").get("order-1")?.count ?? 0),
  };
}

export type World = ReturnType<typeof newWorld>;

export type StoreMethod = "claim" | "settle" | "insert" | "find" | "loadResult";

/** Stands between the engine and a store: `request` is the real thing, to be made once, twice or never. */
export type Intercept = (
  method: StoreMethod,
  request: () => Promise<unknown>,
  parameters: readonly unknown[],
) => Promise<unknown>;

export function intercepted<Write>(store: Store<Write>, intercept: Intercept): Store<Write> {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name === "checkEffects") return value.bind(target);
      return (...parameters: unknown[]) =>
        intercept(name as StoreMethod, () => Reflect.apply(value, target, parameters), parameters);
    },
  });
}

/** A store that keeps the names of the requests that are made to it. */
export function counting(world: World, intercept: Intercept = (_, request) => request()) {
  const requests: StoreMethod[] = [];
  const store = intercepted(world.memory, (method, request, parameters) => {
    requests.push(method);
    return intercept(method, request, parameters);
  });
  return { requests, store };
}

export const unreachable = () => new StoreUnavailableError("unreachable", new Error("no answer"));
export const throttled = () => new StoreUnavailableError("throttled", new Error("slow down"));

/** Fails the requests of one method as told: `before` it is applied, or `after` it, when only the answer is lost. */
export function failing<Write>(
  store: Store<Write>,
  method: StoreMethod,
  when: "before" | "after",
  { times = Number.POSITIVE_INFINITY, error = unreachable }: { times?: number; error?: () => Error } = {},
): Store<Write> {
  let failures = 0;
  return intercepted(store, async (name, request) => {
    if (name !== method || failures >= times) return request();
    failures++;
    if (when === "after") await request();
    throw error();
  });
}

/** What the SDK does when an answer is lost: the same request again, and the second answer counts. */
export function answerLost<Write>(store: Store<Write>, ...methods: readonly StoreMethod[]): Store<Write> {
  return intercepted(store, async (name, request) => {
    if (methods.includes(name)) await request().catch(() => {});
    return request();
  });
}

/** A promise to wait for, and its handles. */
export function gate<T = void>() {
  let open!: (value: T) => void;
  let fail!: (error: unknown) => void;
  const opened = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { opened, open, fail };
}

/** A worker that stops in the middle of its work, until its gate opens. */
export function pausedWorker(world: World, options: Parameters<World["start"]>[1] = {}) {
  const { opened, open, fail } = gate<unknown>();
  const outcome = world.start(() => opened, options);
  return { outcome, resume: open, fail };
}
