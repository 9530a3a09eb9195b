// What a server is, and what it refuses: reported at once, by name, before any handler runs.
import { InvalidOptionError, StoreUnavailableError } from "onceonly";
import { ValkeyStore } from "onceonly/valkey";
import { describe, expect, it } from "vitest";
import {
  claimOf,
  found,
  freshRecordKey,
  settlementOf,
  takeOverOf,
  won,
} from "../../lib/testing/contract/given.ts";
import { fromGlide } from "../../lib/valkey/from-glide.ts";
import { fromIoredis } from "../../lib/valkey/from-ioredis.ts";
import { fromNodeRedis } from "../../lib/valkey/from-node-redis.ts";
import type { ValkeyStoreOptions } from "../../lib/valkey/options.ts";
import type { ValkeyClient } from "../../lib/valkey/valkey-client.ts";
import { startValkey } from "../kit/valkey-server.ts";
import { afterwards, CLIENTS, CLUSTERS, freshPrefix, hasServer, portOf, redisOf, storeOf } from "./given.ts";
import { shopOf } from "./shop-given.ts";

/** A server with this INFO, which has no script. */
const serverWith = (info: string): ValkeyClient => ({
  send: async (_, [command]) => {
    if (command === "INFO") return info;
    throw new Error("the server was asked");
  },
});

const SAFE = "redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n";

/** A store whose user may do everything but what the rules say, and all that it has on the server. */
async function limited(...rules: string[]) {
  const port = await portOf();
  const admin = redisOf(port);
  const username = freshPrefix();
  const stock = `stock:${username}`;
  const allow = (...more: string[]) => admin.call("ACL", ["SETUSER", username, ...more]);
  await allow("on", "nopass", "~*", "+@all", ...rules);
  afterwards(() => admin.call("ACL", ["DELUSER", username]).catch(() => {}));
  const client = redisOf(port, { username, password: "any", enableReadyCheck: false });
  const { store, prefix } = storeOf(fromIoredis(client));
  const keysOfStore = async () => [...(await admin.keys(`${prefix}*`)), ...(await admin.keys(stock))].sort();
  const snapshot = async () =>
    Promise.all(
      (await keysOfStore()).map(async (key) => [
        key,
        await admin.dumpBuffer(key),
        await admin.call("PEXPIRETIME", [key]),
      ]),
    );
  return { store, allow, keysOfStore, snapshot, stock };
}

const started = async (...settings: string[]) => {
  const server = await startValkey(settings);
  afterwards(server.stop);
  return server.port;
};

describe("the options of a store", () => {
  const client = serverWith(SAFE);

  it.each<[string, object]>([
    ["client", {}],
    ["client", { client: { get: () => {} } }],
    ["client", { client: undefined }],
    ["prefix", { client, prefix: "a{b}" }],
    ["prefix", { client, prefix: "undefined" }],
    ["hashTag", { client, hashTag: "" }],
    ["keepExpiredSeconds", { client, keepExpiredSeconds: 0 }],
    ["keepExpiredSeconds", { client, keepExpiredSeconds: 3_600_000 }],
    ["acceptedRisks", { client, acceptedRisks: ["all"] }],
    ["acceptedRisks", { client, acceptedRisks: "memory-only" }],
    ["acknowledgedBy", { client, acknowledgedBy: 1 }],
    ["acknowledgedBy", { client, acknowledgedBy: { replicas: 0, timeoutMs: 100 } }],
    ["acknowledgedBy", { client, acknowledgedBy: { replicas: 1, timeoutMs: 0 } }],
    ["acknowledgedBy", { client, acknowledgedBy: { replicas: 1, timeoutSeconds: 1 } }],
    ["acknowledgedBy", { client, acknowledgedBy: { replicas: 1, timeoutMs: 100 } }],
    ["table", { client, table: "records" }],
  ])("are rejected if `%s` is wrong: %j", (option, options) => {
    const make = () => new ValkeyStore(options as ValkeyStoreOptions);

    expect(make).toThrow(InvalidOptionError);
    expect(make).toThrow(`\`${option}\` `);
  });
});

describe("a server's own report", () => {
  const checking = (info: string, options: Partial<ValkeyStoreOptions> = {}) =>
    storeOf(serverWith(info), options).store.check();

  it("is accepted if it keeps its data", async () => {
    await expect(checking(SAFE)).resolves.toBeUndefined();
  });

  it.each([
    ["evicts-records", SAFE.replace("noeviction", "allkeys-lru"), /`maxmemory-policy` is allkeys-lru/],
    ["evicts-records", SAFE.replace("noeviction", "volatile-ttl"), /`maxmemory-policy` is volatile-ttl/],
    ["memory-only", SAFE.replace("aof_enabled:1", "aof_enabled:0"), /`appendonly` is off/],
    ["unreported", "redis_version:7.0.15\r\n", /INFO doesn't report/],
  ] as const)("is rejected if it %s, unless that is accepted by name", async (risk, info, message) => {
    await expect(checking(info)).rejects.toThrow(InvalidOptionError);
    await expect(checking(info)).rejects.toThrow(message);
    await expect(checking(info)).rejects.toThrow(`must include "${risk}"`);

    await expect(checking(info, { acceptedRisks: [risk] })).resolves.toBeUndefined();
  });

  it.each([fromIoredis, fromNodeRedis, fromGlide])("is not reached by an invalid client: %o", (from) => {
    const make = from as (client: unknown) => unknown;

    for (const given of [undefined, null, {}, "redis://localhost"])
      expect(() => make(given)).toThrow(/^`client` must be a .*; it needs the methods /);
  });

  it("is rejected if it is too old", async () => {
    await expect(checking(SAFE.replace("7.0.15", "6.0.16"))).rejects.toThrow("6.2 or later; this is 6.0.16");
  });

  it("is rejected if it has no WAITAOF, which `onDisk` needs", async () => {
    const client = { ...serverWith(SAFE), sendTogether: async () => [] };
    const acknowledgedBy = { replicas: 1, timeoutMs: 100, onDisk: true };
    const { store } = storeOf(client, { acknowledgedBy });

    await expect(store.check()).rejects.toThrow("with `onDisk` needs Valkey, or Redis 7.2 or later");
  });

  it("is asked once, and again if the response was unusable", async () => {
    const asked: string[] = [];
    const client: ValkeyClient = {
      send: async (_, [command = ""]) => {
        asked.push(command);
        if (asked.length === 1) throw new Error("lost");
        return command === "INFO" ? SAFE : ["0"];
      },
    };
    const { store } = storeOf(client);

    await expect(store.check()).rejects.toThrow(StoreUnavailableError);
    await Promise.all([store.check(), store.find("a#b", { consistent: true }), store.check()]);

    expect(asked).toEqual(["INFO", "INFO", "EVALSHA"]);
  });

  it.each<[string, string | undefined, seconds: number]>([
    ["a minute later", undefined, 61],
    ["behind a connection that was lost", "read ECONNRESET", 1],
    ["behind a script that was lost", "NOSCRIPT No matching script.", 1],
  ])(
    "is asked again by the next claim %s, which a server that now evicts refuses; running work continues",
    async (_, loss, at) => {
      let [seconds, info, fault] = [0, SAFE, undefined as string | undefined];
      const client: ValkeyClient = {
        send: async (_, [command = ""]) => {
          const error = fault && command !== "INFO" ? new Error(fault) : undefined;
          if (error) fault = undefined;
          if (error) throw error;
          return command === "INFO" ? info : ["1", `${seconds * 1000}`];
        },
      };
      const { store } = storeOf(client);
      const claim = () => store.claim(claimOf(freshRecordKey()));
      const settle = () => store.settle(settlementOf(freshRecordKey()));

      await claim();
      info = SAFE.replace("noeviction", "allkeys-lru");
      seconds = 1;
      await claim();
      [seconds, fault] = [at, loss];
      await claim();

      await expect(claim()).rejects.toThrow(/`maxmemory-policy` is allkeys-lru/);
      await expect(settle()).resolves.toEqual({ settled: true });
      await expect(claim()).rejects.toThrow(InvalidOptionError);
      info = SAFE;
      await expect(claim()).resolves.toMatchObject({ won: true });
    },
  );
});

describe.skipIf(!hasServer)("a real server", () => {
  it("that evicts is refused by the first call, and the handler does not run", async () => {
    const admin = redisOf(await started("--maxmemory-policy", "allkeys-lru"));
    const { call, runs } = shopOf(fromIoredis(admin), admin);

    await expect(call(() => "done")).rejects.toThrow('must include "evicts-records" for this server');
    await expect(call(() => "done", { whenStoreFails: "run" })).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
    expect([runs(), await admin.dbsize()]).toEqual([0, 0]);
  });

  it("without an append-only file is rejected, and used if that is accepted", async () => {
    const admin = redisOf(await started("--appendonly", "no"));
    const { call } = shopOf(fromIoredis(admin), admin);
    await expect(call(() => "done")).rejects.toThrow("`appendonly` is off");

    const accepting = shopOf(fromIoredis(admin), admin, { acceptedRisks: ["memory-only"] });
    expect(await accepting.call(() => "done")).toBe("done");
  });

  it("whose memory is full changes nothing, and is reported as throttled", async () => {
    const admin = redisOf(await started());
    const { store } = storeOf(fromIoredis(admin));
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const seen = await found(store, recordKey);
    await admin.config("SET", "maxmemory", "1");

    for (const claim of [store.claim(takeOverOf(recordKey), seen), store.claim(claimOf(freshRecordKey()))]) {
      await expect(claim).rejects.toMatchObject({ failure: "throttled", retryable: true });
    }

    await admin.config("SET", "maxmemory", "0");
    expect(await found(store, recordKey)).toEqual(seen);
    expect(await admin.dbsize()).toBe(1);
  });

  it("that is a replica passes, with each client", async () => {
    // Side by side, since each repeats its call for a while.
    const failures = await Promise.all(
      Object.values(CLIENTS).map(async (connect) => {
        const port = await started();
        const { store } = storeOf(await connect(port));
        await store.check();
        await redisOf(port).call("REPLICAOF", ["127.0.0.1", `${await portOf()}`]);
        return store.claim(claimOf(freshRecordKey())).catch((error) => error);
      }),
    );

    for (const failure of failures)
      expect(failure).toMatchObject({ failure: "unreachable", retryable: true, action: "CLAIM" });
  });

  it.each(Object.entries(CLIENTS))(
    "that lacks rights for the client is refused, with %s",
    async (_, connect) => {
      const port = await started();
      const { store, prefix } = storeOf(await connect(port));
      await store.check();
      await redisOf(port).call("ACL", ["SETUSER", "default", "-hset"]);

      const failure = await store.claim(claimOf(freshRecordKey())).catch((error) => error);

      expect(failure).toMatchObject({ failure: "refused", retryable: false, table: prefix });
      expect(failure.message).toContain("NOPERM");
    },
  );

  it.each(["hset", "pexpireat", "persist", "hdel", "zadd", "zrem", "time", "hkeys"])(
    "that denies %s to the client changes nothing, so no key is stuck",
    async (command) => {
      const { store, keysOfStore, allow } = await limited(`-${command}`);
      const recordKey = freshRecordKey();

      const refused = store.claim(claimOf(recordKey));

      await expect(refused).rejects.toMatchObject({ failure: "refused", retryable: false });
      await expect(refused).rejects.toThrow("NOPERM");
      expect(await keysOfStore()).toEqual([]);
      await allow(`+${command}`);
      await won(store, claimOf(recordKey));
    },
  );

  it("that loses a right in the middle leaves the record as it was", async () => {
    const { store, allow, snapshot } = await limited();
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const before = await snapshot();
    const { token } = claimOf(recordKey);
    await allow("-pexpireat");

    for (const move of [
      () => store.settle(settlementOf(recordKey)),
      () => store.renew({ recordKey, token, leaseEndsAt: 9e12, expiresAt: 9e9 }),
    ]) {
      await expect(move()).rejects.toMatchObject({ failure: "refused" });
    }

    expect(await snapshot()).toEqual(before);
  });

  it.each(["-dump", "-pttl", "-restore", "-del", "-@dangerous +info", "resetkeys %R~* ~test-*"])(
    "that lacks rights to undo a write (%s) commits neither record nor writes",
    async (rules) => {
      const { store, allow, snapshot, stock } = await limited();
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey));
      const before = await snapshot();
      await allow(...rules.split(" "));

      const committed = store.settle({
        ...settlementOf(recordKey),
        writes: [{ command: ["SET", stock, "1"] }, { command: ["HSET", stock, "of", "another type"] }],
      });

      await expect(committed).rejects.toThrow();
      expect(await snapshot()).toEqual(before);
    },
  );

  it("that does not answer INFO is refused, unless `unreported` is accepted", async () => {
    const port = await started();
    const admin = redisOf(port);
    await admin.call("ACL", ["SETUSER", "limited", "on", "nopass", "~*", "+@all", "-info"]);
    const limited = fromIoredis(
      redisOf(port, { username: "limited", password: "x", enableReadyCheck: false }),
    );

    await expect(storeOf(limited).store.check()).rejects.toMatchObject({
      failure: "refused",
      action: "INFO",
    });
    await expect(storeOf(limited, { acceptedRisks: ["unreported"] }).store.check()).resolves.toBeUndefined();
  });

  it("that is not there makes the store unavailable", async () => {
    const client = redisOf(1, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
    const { store } = storeOf(fromIoredis(client));

    const failure = await store.claim(claimOf(freshRecordKey())).catch((error) => error);

    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(failure).toMatchObject({ failure: "unreachable", retryable: true, action: "INFO" });
  });

  it("of a cluster rejects a client that doesn't support clusters, and keys of other slots, with what to do", async () => {
    const port = await portOf("cluster");
    const alone = storeOf(fromIoredis(redisOf(port))).store;
    for (const [name, connect] of Object.entries(CLUSTERS)) {
      const { store } = storeOf(await connect(port));
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey));
      const settled = store.settle({
        recordKey,
        token: "token-1",
        now: 1,
        state: "completed",
        writes: [{ command: ["SET", freshPrefix(), "1"] }],
        messages: [],
      });
      await expect(settled, name).rejects.toThrow(
        "set `hashTag` on the store, and use it in the keys of `writes`",
      );
      expect(await found(store, recordKey)).toMatchObject({ state: "in-progress" });
    }
    // The one node has all slots: a client that knows no cluster is not sent away.
    await won(alone, claimOf(freshRecordKey()));
  });

  it("keeps all keys of one record in one slot, with and without a hash tag", async () => {
    const admin = redisOf(await portOf("cluster"));
    const slotOf = (key: string) => admin.call("CLUSTER", ["KEYSLOT", key]);
    const { ValkeyKeys } = await import("../../lib/valkey/keys.ts");
    const slots = new Set<unknown>();
    for (let index = 0; index < 100; index++) {
      const { record, index: list } = new ValkeyKeys("shop", undefined).of(freshRecordKey());
      slots.add(await slotOf(record));
      expect(await slotOf(list)).toBe(await slotOf(record));
      const tagged = new ValkeyKeys("shop", "orders").of(freshRecordKey());
      expect(await slotOf(tagged.record)).toBe(await slotOf("own:{orders}:1"));
      expect(await slotOf(tagged.index)).toBe(await slotOf("own:{orders}:1"));
    }
    expect(slots.size).toBeGreaterThan(50);
    expect(new ValkeyKeys("shop", undefined).indexes()).toHaveLength(256);
  });
});
