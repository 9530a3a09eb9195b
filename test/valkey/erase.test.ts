// Erasing on Valkey and Redis.
import { beforeAll, describe, it } from "vitest";
import { fromIoredis } from "../../lib/valkey/from-ioredis.ts";
import { ValkeyKeys } from "../../lib/valkey/keys.ts";
import { type ErasedWorld, erasuresOf } from "../core/plays/erasures.ts";
import { hasServer, portOf, redisOf, storeOf } from "./given.ts";

describe.skipIf(!hasServer)("on Valkey", () => {
  let world: ErasedWorld;

  beforeAll(async () => {
    const redis = redisOf(await portOf());
    const { store, prefix } = storeOf(fromIoredis(redis));
    const keys = new ValkeyKeys(prefix, undefined);
    world = {
      store,
      hasSteps: true,
      held: async (recordKey) => JSON.stringify(await redis.hgetall(keys.of(recordKey).record)),
      setVersion: async (recordKey, version) => {
        await redis.hset(keys.of(recordKey).record, "version", `${version}`);
      },
    };
  });

  it.each(erasuresOf(true))("$name", ({ check }) => check(world));
});
