// A Valkey or Redis with a store, and keys beside the records.

import { fromIoredis } from "../../lib/valkey/from-ioredis.ts";
import { ValkeyKeys } from "../../lib/valkey/keys.ts";
import type { ValkeyWrite } from "../../lib/valkey/writes.ts";
import type { Ports } from "../../packages/proof/model/store-play.ts";
import { portOf, redisOf, storeOf } from "./given.ts";

/** Without an outbox, which this store has not. */
export async function portsOnValkey(): Promise<Ports<ValkeyWrite>> {
  const port = await portOf();
  const redis = redisOf(port);
  const { store, prefix } = storeOf(fromIoredis(redis));
  const keys = new ValkeyKeys(prefix, undefined);
  const row = (name: string) => `${prefix}-rows:${name}`;
  return {
    store,
    rows: {
      insertion: (name) => ({ command: ["SET", row(name), "1"], onlyIf: "absent" }),
      increment: (name) => ({ command: ["INCRBY", row(name), 1] }),
      put: async (name) => void (await redis.set(row(name), "1")),
      count: async (name) => Number((await redis.get(row(name))) ?? 0),
      delete: async (name) => void (await redis.del(row(name))),
    },
    remove: async (key) => void (await redis.del(keys.of(key).record)),
  };
}
