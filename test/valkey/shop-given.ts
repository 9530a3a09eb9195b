// A shop on Valkey: a handler's call, and what stands on the server behind it.
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { type DecisionEvent, type Execution, runOnce } from "onceonly";
import type { EngineOptions } from "onceonly/store-kit";
import { identify } from "../../lib/core/identity.ts";
import { ValkeyKeys } from "../../lib/valkey/keys.ts";
import type { ValkeyStoreOptions } from "../../lib/valkey/options.ts";
import type { ValkeyClient } from "../../lib/valkey/valkey-client.ts";
import type { ValkeyWrite } from "../../lib/valkey/writes.ts";
import { storeOf } from "./given.ts";

export function shopOf(client: ValkeyClient, admin: Redis, options: Partial<ValkeyStoreOptions> = {}) {
  const { store, prefix } = storeOf(client, options);
  const keys = new ValkeyKeys(prefix, options.hashTag);
  const events: DecisionEvent[] = [];
  let runs = 0;

  const recordOf = (key = "key") => keys.of(identify("order", "", key).recordKey).record;
  return {
    store,
    prefix,
    /** A key of the user's own. */
    orders: `orders:{any}:${randomUUID()}`,
    /** How often a handler ran. */
    runs: () => runs,
    decisions: () => events.map(({ decision }) => decision),
    /** The server's key of a record. */
    recordOf,
    stateOf: (key?: string) => admin.hget(recordOf(key), "state"),
    call: <T>(
      work: (execution: Execution<ValkeyWrite>) => T | Promise<T>,
      { key = "key", ...given }: { key?: string } & Partial<EngineOptions<ValkeyWrite>> = {},
    ) =>
      runOnce(
        {
          operation: "order",
          store,
          leaseSeconds: 30,
          observe: (event) => void events.push(event),
          ...given,
        },
        key,
        {},
        (execution) => {
          runs++;
          return work(execution);
        },
      ),
  };
}
