/** One world per test: virtual time, a store in memory, and everything the engine decides. */

import type { Work } from "../../lib/core/attempt.ts";
import type { Decision, DecisionEvent } from "../../lib/core/decisions.ts";
import { perform } from "../../lib/core/engine.ts";
import { fingerprintsOf } from "../../lib/core/fingerprint.ts";
import { identify } from "../../lib/core/identity.ts";
import type { CallInput } from "../../lib/core/ongoing-call.ts";
import type { EngineOptions } from "../../lib/core/options.ts";
import { type Outcome, resultOf } from "../../lib/core/outcome.ts";
import type { IdempotencyRecord } from "../../lib/core/record.ts";
import { resolveOptions } from "../../lib/core/resolved-options.ts";
import {
  fakeClock,
  fakeRandom,
  MemoryStore,
  type MemoryStoreOptions,
  type MemoryWrite,
} from "../../lib/testing/index.ts";
import { type Intercept, intercepted, type StoreMethod } from "../kit/faults/faulty-store.ts";
import { gate } from "../kit/time/gate.ts";

export const START = 1_700_000_000_000;

type Options = Partial<EngineOptions<MemoryWrite>>;
type Request = Partial<Omit<CallInput, "identity" | "fingerprints">> & {
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
      // Most tests are about a lease that ends by itself.
      renewLease: false,
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

/** A store that keeps the names of the requests that are made to it. */
export function counting(world: World, intercept: Intercept = (_, request) => request()) {
  const requests: StoreMethod[] = [];
  const store = intercepted(world.memory, (method, request, parameters) => {
    requests.push(method);
    return intercept(method, request, parameters);
  });
  return { requests, store };
}

/** A worker that stops in the middle of its work, until its gate opens. */
export function pausedWorker(world: World, options: Parameters<World["start"]>[1] = {}) {
  const { opened, open, fail } = gate<unknown>();
  const outcome = world.start(() => opened, options);
  return { outcome, resume: open, fail };
}
