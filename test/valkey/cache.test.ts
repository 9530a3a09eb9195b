// A cache in Valkey in front of another store: what it spares, and that nothing it does, or is, changes an answer.
import { randomUUID } from "node:crypto";
import { InvalidOptionError, runOnce } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { eraseResult } from "onceonly/reconciler";
import { cached, encrypted, redacted } from "onceonly/stores";
import { fakeClock, MemoryStore, storeContract } from "onceonly/testing";
import { valkeyCache } from "onceonly/valkey";
import { beforeAll, describe, expect, inject, it, vi } from "vitest";
import type { RecordCache } from "../../lib/core/record-cache.ts";
import type { StoreSubject } from "../../lib/testing/contract/store-contract.ts";
import type { MemoryWrite } from "../../lib/testing/memory-tables.ts";
import { fromIoredis } from "../../lib/valkey/from-ioredis.ts";
import type { ValkeyClient } from "../../lib/valkey/valkey-client.ts";
import { countRequests } from "../kit/counting-client.ts";
import { memorySubject } from "../kit/memory-subject.ts";
import { connect, createTable } from "../kit/tables.ts";
import { cacheWorld } from "./cache-given.ts";
import { CLIENTS, CLUSTERS, freshPrefix, hasServer, portOf, redisOf } from "./given.ts";

describe
  .skipIf(!hasServer)
  .each([
    ...Object.entries(CLIENTS).map(([name, connectTo]) => [name, "server", connectTo] as const),
    ...Object.entries(CLUSTERS).map(
      ([name, connectTo]) => [`${name}, on a cluster`, "cluster", connectTo] as const,
    ),
  ])("cached in Valkey, with %s", (name, kind, connectTo) => {
  let cache: RecordCache;
  let subject: StoreSubject<MemoryWrite>;

  beforeAll(async () => {
    cache = valkeyCache({
      client: await connectTo(await portOf(kind)),
      prefix: freshPrefix(),
      timeoutMs: 1000,
    });
    const memory = memorySubject();
    subject = { ...memory, store: cached(memory.store, { in: cache }) };
  });

  it("spares the store a replay, is compared with it, and forgets", async () => {
    const { call, behind, requests, remember, never, durable, clock } = await cacheWorld();
    const store = cached(behind, { in: cache, clock });
    await call(() => "done", { store });
    await call(never, { store });
    requests.length = 0;

    expect(await call(never, { store })).toBe("done");
    expect(requests).toEqual([]);

    const checks = (store as unknown as { crossCheck(): AsyncIterable<string> }).crossCheck();
    const found: string[] = [];
    for await (const check of checks) found.push(check);
    expect(found).toContain("confirmed");
    await cache.forget({ operation: "pay", key: "key-1" });
    expect(await call(never, { store })).toBe("done");
    expect(requests).toContain("claim");
    await remember();
    expect(durable.records.size).toBe(1);
  });

  // One client is enough for what no client decides.
  const cases = name === "ioredis" ? storeContract(() => subject) : [];
  for (const each of cases) it(each.name, each.run);
});

describe.skipIf(!hasServer)("a replay from the cache", () => {
  it.each([
    ["small", "done"],
    ["of an item of its own", "x".repeat(5000)],
    ["that is nothing", null],
  ])("H57: costs the store nothing, in other processes too, with a result %s", async (_, result) => {
    const one = await cacheWorld();
    const other = await cacheWorld({ prefix: one.prefix }, one.durable);
    await one.remember(result);

    const answers = await Promise.all([
      one.call(one.never),
      other.call(other.never),
      other.call(other.never),
    ]);

    expect(answers).toEqual([result, result, result]);
    expect([...one.requests, ...other.requests]).toEqual([]);
  });

  it("answers the look of the optimistic mode, and no consistent read", async () => {
    const { call, store, requests, never, recordKeyOf } = await cacheWorld();
    const optimistic = { mode: "optimistic" } as const;
    await call(() => "done", optimistic);
    await call(never, optimistic);
    requests.length = 0;

    expect(await call(never, optimistic)).toBe("done");
    expect(requests).toEqual([]);
    expect(await store.find(recordKeyOf({}), { consistent: true })).toMatchObject({ state: "completed" });
    expect(requests).toEqual(["find"]);
  });

  it("remembers nothing that runs, was released or has failed for good", async () => {
    const { admin, call, prefix } = await cacheWorld();
    const fails = () => Promise.reject(new Error("no"));
    await expect(call(fails)).rejects.toThrow("no");
    await expect(call(fails, { isFinalError: () => true })).rejects.toThrow("no");
    await expect(call(fails)).rejects.toThrow("no");

    expect(await admin.keys(`${prefix}:*`)).toEqual([]);
  });

  it("H45: is for the same operation, scope and payload only", async () => {
    const { call, requests, remember } = await cacheWorld();
    await remember("theirs");

    expect(await call(() => "own", { scope: "tenant-2" })).toBe("own");
    expect(await call(() => "own", { operation: "refund" })).toBe("own");
    expect(requests).toEqual(["claim", "settle", "claim", "settle"]);
    await expect(call(() => "own", { input: "another" })).rejects.toMatchObject({
      code: "FINGERPRINT_MISMATCH",
    });
  });

  it("H45: is of one store only: another Region's, with a different prefix, answers for itself", async () => {
    const [dublin, ohio] = [await cacheWorld(), await cacheWorld()];
    await dublin.remember("in Dublin");

    expect(await ohio.call(() => "in Ohio")).toBe("in Ohio");
    expect(await dublin.call(dublin.never)).toBe("in Dublin");
    expect(await ohio.call(ohio.never)).toBe("in Ohio");
  });

  it("H45: a record that another Region has overwritten is answered from for so long, and no longer", async () => {
    const world = await cacheWorld({ rememberSeconds: 60 });
    await world.remember("ours");
    world.durable.alter(world.recordKeyOf({}), {
      token: "theirs",
      result: { in: "record", text: '{"value":"theirs"}' },
    });

    expect(await world.call(world.never)).toBe("ours");
    world.advance(60_000);
    const [theirs] = await Promise.allSettled([world.call(world.never)]);

    expect(world.requests[0]).toBe("claim");
    expect(theirs).not.toMatchObject({ value: "ours" });
  });

  it("H45: a record that was deleted by hand is answered from for so long, and no longer", async () => {
    const world = await cacheWorld({ rememberSeconds: 5 });
    await world.remember();
    world.durable.alter(world.recordKeyOf({}), undefined);

    expect(await world.call(() => "again")).toBe("done");
    expect(Number(await world.admin.pttl(await world.entryKey()))).toBeLessThanOrEqual(5000);
    world.advance(5000);

    expect(await world.call(() => "again")).toBe("again");
  });

  it("H5, H40: ends with the retention of the record, although the cache remembers longer", async () => {
    const world = await cacheWorld({ rememberSeconds: 3600 });
    const short = { retentionSeconds: 30 };
    await world.remember("first", short);
    expect(Number(await world.admin.pttl(await world.entryKey()))).toBeLessThanOrEqual(31_000);
    world.advance(31_000);

    expect(await world.call(() => "second", short)).toBe("second");
    expect(await world.call(world.never, short)).toBe("second");
    expect(await world.call(world.never, short)).toBe("second");
  });

  it("H40: a host whose clock is ahead takes over an expired key, and the previous record's entry is removed", async () => {
    const slow = await cacheWorld({ rememberSeconds: 3600 });
    const ahead = await cacheWorld({ prefix: slow.prefix, rememberSeconds: 3600 }, slow.durable);
    const short = { retentionSeconds: 30 };
    await slow.remember("first", short);
    ahead.advance(31_000);

    expect(await ahead.call(() => "second", short)).toBe("second");

    expect(await slow.call(slow.never, short)).toBe("second");
  });

  it("H14: an entry of a host whose clock is ahead has no age, and the store is asked", async () => {
    const world = await cacheWorld();
    const ahead = await cacheWorld({ prefix: world.prefix }, world.durable);
    ahead.advance(20_000);
    await ahead.remember();

    expect(await world.call(world.never)).toBe("done");
    expect(world.requests).toEqual(["claim"]);
  });
});

describe.skipIf(!hasServer)("an entry", () => {
  const damages: Record<string, (raw: string) => string> = {
    "that is cut off": (raw) => raw.slice(0, -20),
    "with a changed answer": (raw) => raw.replace("done", "evil"),
    "with a changed fingerprint": (raw) => raw.replace(/"fingerprint":"./, '"fingerprint":"_'),
    "that is no text of ours": () => '{"state":"completed","result":{"in":"record","text":"evil"}}',
    "that is empty": () => "",
  };

  it.each(Object.entries(damages))("H45: %s is not believed, and put right", async (_, damage) => {
    const { admin, call, never, requests, remember, entryKey } = await cacheWorld();
    await remember();
    const key = await entryKey();
    const before = (await admin.get(key)) ?? "";
    await admin.set(key, damage(before));

    expect(await call(never)).toBe("done");
    expect(requests).toEqual(["claim"]);
    expect(await call(never)).toBe("done");
    expect(requests).toEqual(["claim"]);
    expect(damage(before)).not.toBe(before);
  });

  it("H45: of another key, or of the cache of another store, is not trusted if it was copied there", async () => {
    const { admin, call, requests, remember, entryKey } = await cacheWorld();
    await remember("theirs", { key: "key-2" });
    await remember("ours");
    const theirs = (await admin.get(await entryKey({ key: "key-2" }))) ?? "";
    await admin.set(await entryKey(), theirs);
    expect(await call(() => "again")).toBe("ours");
    expect(requests).toEqual(["claim"]);

    const other = await cacheWorld();
    await other.remember("of another store");
    await admin.set(await entryKey(), (await admin.get(await other.entryKey())) ?? "");
    expect(await call(() => "again")).toBe("ours");
  });

  it("of another type than string, or with invalid UTF-8, is ignored, and the store asked", async () => {
    const { admin, call, never, remember, requests, entryKey } = await cacheWorld();
    vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    await remember();
    const key = await entryKey();
    await admin.set(key, Buffer.from([0xff, 0xfe, 0x20, 0xff]));
    expect(await call(never)).toBe("done");
    await admin.del(key);
    await admin.rpush(key, "a list");

    expect(await call(never)).toBe("done");

    expect(requests).toEqual(["claim", "claim"]);
    expect(await admin.type(key)).toBe("list");
    vi.restoreAllMocks();
  });

  it("of a large result is not remembered", async () => {
    const { admin, call, never, prefix } = await cacheWorld();
    await call(() => "x".repeat(300_000));
    expect(await call(never)).toHaveLength(300_000);

    expect(await admin.keys(`${prefix}:*`)).toEqual([]);
  });

  it("that is evicted costs the store one request, and comes back", async () => {
    const { admin, call, never, requests, remember, entryKey } = await cacheWorld();
    await remember();
    await admin.del(await entryKey());

    expect([await call(never), await call(never)]).toEqual(["done", "done"]);
    expect(requests).toEqual(["claim"]);
  });
});

describe("a cache that does not answer", () => {
  const warnings = () => vi.spyOn(process, "emitWarning").mockImplementation(() => {});

  it.skipIf(!hasServer)(
    "H45: that is dead fails no call, is left alone for a second, and is reported once",
    async () => {
      const warned = warnings();
      let asked = 0;
      const client: ValkeyClient = {
        send: async () => {
          asked++;
          throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
        },
      };
      const { advance, call, never } = await cacheWorld({ client });

      expect(await call(() => "done")).toBe("done");
      expect([await call(never), await call(never)]).toEqual(["done", "done"]);
      expect(asked).toBe(1);
      advance(1000);
      expect(await call(never)).toBe("done");

      expect(asked).toBe(2);
      expect(warned).toHaveBeenCalledTimes(1);
      expect(warned).toHaveBeenCalledWith(expect.stringContaining("ECONNREFUSED"), {
        code: "ONCEONLY_CACHE",
      });
      vi.restoreAllMocks();
    },
  );

  it.skipIf(!hasServer)("that throws immediately, as a closed client may, fails no call", async () => {
    warnings();
    const client: ValkeyClient = {
      send: () => {
        throw new Error("The client is closed");
      },
    };
    const { call, never } = await cacheWorld({ client });

    expect([await call(() => "done"), await call(never)]).toEqual(["done", "done"]);
    vi.restoreAllMocks();
  });

  it("that hangs is waited for no longer than `timeoutMs`", async () => {
    warnings();
    const clock = fakeClock(Date.now());
    const client: ValkeyClient = { send: () => new Promise(() => {}) };
    const cache = valkeyCache({ client, prefix: "hangs", timeoutMs: 30 });
    const store = cached(new MemoryStore(), { in: cache, clock });
    const options = { operation: "pay", store, clock, leaseSeconds: 30, renewLease: false };
    const startedAt = clock.now();

    const answers = [];
    for (let call = 0; call < 4; call++) {
      answers.push(await clock.run(runOnce(options, "key-1", {}, () => `run ${call}`)));
    }

    expect(answers).toEqual(Array(4).fill("run 0"));
    expect(clock.now() - startedAt).toBe(30);
    expect(clock.sleepers).toBe(0);
    vi.restoreAllMocks();
  });

  it.skipIf(!hasServer)(
    "H45: whose responses come late overwrites nothing that was forgotten in between",
    async () => {
      const late: (() => Promise<unknown>)[] = [];
      let isSlow = false;
      const real = fromIoredis(redisOf(await portOf()));
      const client: ValkeyClient = {
        send: async (key, command) => {
          if (!isSlow || command[0] !== "EVAL") return real.send(key, command);
          late.push(() => real.send(key, command));
          return null;
        },
      };
      const { cache, call, never, durable, recordKeyOf, requests } = await cacheWorld({ client });
      await call(() => "secret");
      isSlow = true;
      expect(await call(never)).toBe("secret");
      isSlow = false;
      durable.alter(recordKeyOf({}), { result: { in: "nowhere", bytes: 0 } });
      await cache.forget({ operation: "pay", key: "key-1" });
      expect(late).toHaveLength(1);
      for (const send of late) await send();
      requests.length = 0;

      await expect(call(never)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
      expect(requests).toEqual(["claim"]);
    },
  );
});

describe.skipIf(!hasServer)("erasing", () => {
  it("H39, H45: a result that is erased in the store is answered for `rememberSeconds`, and no longer once `forget` is called", async () => {
    const world = await cacheWorld({ rememberSeconds: 60 });
    await world.remember("secret");
    world.durable.alter(world.recordKeyOf({}), { result: { in: "nowhere", bytes: 0 } });
    expect(await world.call(world.never)).toBe("secret");

    await world.cache.forget({ operation: "pay", key: "key-1" });
    await world.cache.forget({ operation: "pay", key: "key-1" });

    await expect(world.call(world.never)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect(await world.admin.get(await world.entryKey())).not.toContain("secret");
  });

  it("H39: `eraseResult` with the cache erases there too, and reports if the cache did not respond", async () => {
    const [engine] = inject("dynamodbEngines");
    const client = connect(engine?.endpoint ?? "");
    const tableName = await createTable(client);
    const counts = countRequests(client);
    const { admin, prefix, cache } = await cacheWorld({ timeoutMs: 1000 });
    const store = cached(new DynamoDBStore({ tableName, client }), { in: cache });
    const options = { operation: "pay", store, leaseSeconds: 30, scope: "tenant-1" };
    const key = randomUUID();
    const secret = `canary ${"x".repeat(5000)}`;
    await runOnce(options, key, {}, () => secret);
    await runOnce(options, key, {}, () => expect.unreachable());
    counts.reset();
    expect(await runOnce(options, key, {}, () => expect.unreachable())).toBe(secret);
    expect(counts.commands).toEqual([]);

    const erasure = { by: "ana", why: "request 12" };
    const dead: RecordCache = valkeyCache({
      client: { send: () => Promise.reject(new Error("away")) },
      prefix,
    });
    const erase = { store: new DynamoDBStore({ tableName, client }), operation: "pay", scope: "tenant-1" };
    await expect(eraseResult({ ...erase, cache: dead }, key, erasure)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      retryable: true,
    });
    expect(await eraseResult({ ...erase, cache }, key, erasure)).toEqual({ erased: true });

    const again = runOnce(options, key, {}, () => expect.unreachable());
    await expect(again).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    const left = await Promise.all((await admin.keys(`${prefix}:*`)).map((each) => admin.dump(each)));
    expect(left.join()).not.toContain("canary");
  });

  it("H38: the cache only gets results that were redacted or sealed before", async () => {
    const world = await cacheWorld();
    const keys = {
      generate: async () => ({ plain: new Uint8Array(32).fill(1), encrypted: new Uint8Array(32).fill(2) }),
      decrypt: async () => new Uint8Array(32).fill(1),
    };
    expect(() => cached(encrypted(world.durable, { keys }), { in: world.cache })).toThrow(
      "put the cache inside `encrypted`",
    );
    expect(() => cached(redacted(encrypted(world.durable, { keys }), "all"), { in: world.cache })).toThrow(
      InvalidOptionError,
    );
    const store = redacted(world.store, ({ id }: { id: string }) => ({ id }));
    await world.call(() => ({ id: "7", card: "canary-5f2e" }), { store });
    await world.call(world.never, { store });

    expect(await world.call(world.never, { store })).toEqual({ id: "7" });
    expect(await world.admin.get(await world.entryKey())).not.toContain("canary");
  });
});

describe("valkeyCache", () => {
  const client: ValkeyClient = { send: async () => null };

  it.each([
    ["client", { prefix: "orders" }],
    ["client", { client: {}, prefix: "orders" }],
    ["prefix", { client }],
    ["prefix", { client, prefix: undefined }],
    ["prefix", { client, prefix: "orders-undefined" }],
    ["prefix", { client, prefix: "a{b}" }],
    ["rememberSeconds", { client, prefix: "orders", rememberSeconds: 0 }],
    ["rememberSeconds", { client, prefix: "orders", rememberSeconds: 60_000 }],
    ["timeoutMs", { client, prefix: "orders", timeoutMs: 0 }],
    ["timeoutMs", { client, prefix: "orders", timeoutMs: 5000 }],
    ["timeoutSeconds", { client, prefix: "orders", timeoutSeconds: 1 }],
  ])("refuses a wrong `%s`: %j", (name, options) => {
    expect(() => valkeyCache(options as never)).toThrow(InvalidOptionError);
    expect(() => valkeyCache(options as never)).toThrow(`\`${name}\` `);
  });

  it.each([
    ["in", { in: client }],
    ["in", { in: {} }],
    ["rememberSeconds", { in: valkeyCache({ client, prefix: "orders" }), rememberSeconds: 10 }],
    ["maxRecords", { in: valkeyCache({ client, prefix: "orders" }), maxRecords: 10 }],
  ])("cached rejects a wrong `%s` next to a cache: %j", (name, options) => {
    expect(() => cached(new MemoryStore(), options as never)).toThrow(`\`${name}\` `);
  });

  it("forgets names that a handler could have, and no others", async () => {
    const cache = valkeyCache({ client, prefix: "orders" });
    await expect(cache.forget({ operation: "pay" } as never)).rejects.toThrow("`key` ");
    await expect(cache.forget({ key: "1" } as never)).rejects.toThrow("`operation` ");
    await expect(cache.forget({ operation: "pay", key: "1", scope: undefined })).resolves.toBeUndefined();
  });
});
