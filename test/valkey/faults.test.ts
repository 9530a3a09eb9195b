// What may go wrong between a call and the server: lost scripts, lost answers, damaged and deleted records.
import type { Redis } from "ioredis";
import { beforeAll, describe, expect, it } from "vitest";
import {
  claimOf,
  found,
  freshRecordKey,
  renewalOf,
  settlementOf,
  won,
} from "../../lib/testing/contract/given.ts";
import { fromIoredis } from "../../lib/valkey/from-ioredis.ts";
import type { ValkeyClient } from "../../lib/valkey/valkey-client.ts";
import { startLossyProxy } from "../postgres/proxy-given.ts";
import { CLIENTS, freshPrefix, hasServer, portOf, redisOf, storeOf } from "./given.ts";
import { shopOf } from "./shop-given.ts";

let port: number;
let admin: Redis;
beforeAll(async () => {
  if (!hasServer) return;
  port = await portOf();
  admin = redisOf(port);
});

const flush = () => admin.call("SCRIPT", ["FLUSH"]);

describe.skipIf(!hasServer).each(Object.entries(CLIENTS))("with %s", (_, connect) => {
  it("a script that is flushed between any two requests is loaded again", async () => {
    const { call, runs, stateOf } = shopOf(await connect(port), admin);
    await flush();

    const answer = await call(async ({ step }) => {
      await flush();
      const charged = await step("charge", () => "ch_1");
      await flush();
      return charged;
    });
    await flush();

    expect([answer, await call(() => "again")]).toEqual(["ch_1", "ch_1"]);
    expect([runs(), await stateOf()]).toEqual([1, "completed"]);
  });

  it.each(["claim", "step", "renew", "settle", "find"])(
    "H8: the connection is lost before the answer to %s: it is repeated, and recognises its own",
    async (move) => {
      const proxy = await startLossyProxy(port);
      const { store } = storeOf(await connect(proxy.port));
      await store.check();
      const recordKey = freshRecordKey();
      proxy.loseAnswerTo(`\r\n${move}\r\n`);

      const insisting = async <T>(request: () => Promise<T>): Promise<T> => {
        for (;;) {
          try {
            return await request();
          } catch (error) {
            // Whether a client asks once more by itself is its own matter.
            expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
          }
        }
      };
      const claimed = await insisting(() => store.claim(claimOf(recordKey)));
      if (!claimed.won) expect(claimed.record).toMatchObject({ token: "token-1", state: "in-progress" });
      const step = {
        recordKey,
        token: "token-1",
        name: "charge",
        step: { state: "done", attempt: 1, at: 1 },
        resultExpiresAt: 1,
        isFirst: true,
        leaseEndsAt: 1,
        writes: [],
      } as const;
      expect(await insisting(() => store.writeStep(step))).toEqual({ settled: true });
      expect(await insisting(() => store.renew(renewalOf(recordKey)))).toEqual({ renewed: true });
      expect(await insisting(() => store.settle(settlementOf(recordKey)))).toEqual({ settled: true });
      expect(await insisting(() => found(store, recordKey))).toMatchObject({
        state: "completed",
        attempt: 1,
      });
    },
  );
});

describe.skipIf(!hasServer)("a record", () => {
  it("H5: that is expired and not deleted yet counts as absent", async () => {
    const { call, runs, recordOf } = shopOf(fromIoredis(admin), admin);
    const later = { now: () => Date.now() + 120_000, sleep: async () => {} };
    await call(() => "first", { retentionSeconds: 60 });

    expect(await call(() => "second", { retentionSeconds: 60, clock: later })).toBe("second");
    expect([runs(), await admin.exists(recordOf())]).toEqual([2, 1]);
  });

  it("H5: that ends in the past by the server's clock is not deleted immediately", async () => {
    const { store, prefix } = storeOf(fromIoredis(admin), { keepExpiredSeconds: 100 });
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf(recordKey, { expiresAt: 1 }));

    expect(await found(store, recordKey)).toMatchObject({ expiresAt: 1 });
    const [key = ""] = await admin.keys(`${prefix}:*`);
    expect(await admin.pttl(key)).toBeGreaterThan(0);
    expect(await admin.pttl(key)).toBeLessThanOrEqual(100_000);
  });

  it("H14: is read by a script, which runs on the primary, even if the client reads from replicas", async () => {
    const asked: string[] = [];
    const { send } = fromIoredis(admin);
    const recording: ValkeyClient["send"] = (key, command) => {
      asked.push(command[0] ?? "");
      return send(key, command);
    };
    const { call } = shopOf({ send: recording }, admin);
    const large = "x".repeat(100_000);
    await call(() => large);

    expect(await call(() => "again")).toBe(large);
    await call(() => large, { mode: "optimistic" });

    expect(new Set(asked)).toEqual(new Set(["INFO", "EVALSHA"]));
  });

  it("H40: whose retention is over is reported, or rejected", async () => {
    const { call, decisions } = shopOf(fromIoredis(admin), admin);
    const later = { now: () => Date.now() + 120_000, sleep: async () => {} };
    await call(() => "first", { retentionSeconds: 60 });

    const refused = call(() => "second", { retentionSeconds: 60, clock: later, whenKeyExpired: "reject" });

    await expect(refused).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_INVALID" });
    expect(decisions()).toContain("key-expired");
  });

  it("H40: stays after its retention for as long as the store promises", async () => {
    const { store, prefix } = storeOf(fromIoredis(admin), { keepExpiredSeconds: 7200 });
    const recordKey = freshRecordKey();
    const expiresAt = Math.floor(Date.now() / 1000) + 10_000;
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf(recordKey, { expiresAt }));

    const [key = ""] = await admin.keys(`${prefix}:*`);
    expect(await admin.call("PEXPIRETIME", [key])).toBe((expiresAt + 7200) * 1000);
  });

  it("H45: that is deleted answers no call: each replay asks the server", async () => {
    const { call, runs, recordOf } = shopOf(fromIoredis(admin), admin);
    await call(() => "first");
    await call(() => "replayed");
    await admin.del(recordOf());

    expect(await call(() => "again")).toBe("again");
    expect(runs()).toBe(2);
  });

  it("H4: of a caller whose clock is 10 minutes off is reported, by the server's clock", async () => {
    const { call, decisions } = shopOf(fromIoredis(admin), admin);
    const off = { now: () => Date.now() - 600_000, sleep: async () => {} };

    await call(() => "done", { clock: off });

    expect(decisions()).toEqual(["clock-skewed", "executed"]);
  });

  it("H15: with a result of 1 MB comes back whole, and its result is not part of a refusal", async () => {
    const { store } = storeOf(fromIoredis(admin));
    const recordKey = freshRecordKey();
    const result = JSON.stringify("ä\u0000x".repeat(250_000));
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf(recordKey, { result }));

    const { result: stored } = await found(store, recordKey);

    expect(stored).toMatchObject({ in: "item" });
    expect(stored?.in === "item" && (await store.loadResult(stored.address))).toBe(result);
    expect(await store.loadResult("nothing of ours")).toBeUndefined();
  });

  it("H15: with a result beyond 16 MB contains its size", async () => {
    const { store } = storeOf(fromIoredis(admin));
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf(recordKey, { result: `"${"x".repeat(16 * 1024 * 1024)}"` }));

    expect((await found(store, recordKey)).result).toEqual({ in: "nowhere", bytes: 16 * 1024 * 1024 + 2 });
  });

  it.each([
    ["state", "finished"],
    ["attempt", "many"],
    ["lease", ""],
    ["s:charge", "sold 1 1\n{}"],
    ["s:charge", "done 1 1\n{"],
    ["s:charge", "done"],
  ])("that is damaged fails closed, and the handler does not run: %s is %j", async (field, value) => {
    const { call, runs, recordOf } = shopOf(fromIoredis(admin), admin);
    await call(() => "done");
    await admin.hset(recordOf(), field, value);

    await expect(call(() => "again")).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
    expect(runs()).toBe(1);
  });

  it("whose key another application uses is refused, and left alone", async () => {
    const { call, runs, recordOf } = shopOf(fromIoredis(admin), admin);
    await admin.set(recordOf(), "theirs");

    await expect(call(() => "done")).rejects.toMatchObject({ failure: "refused" });
    await expect(call(() => "done")).rejects.toThrow("WRONGTYPE, something else uses a key");
    expect([runs(), await admin.get(recordOf())]).toEqual([0, "theirs"]);
  });

  it("that is held or unfinished has no expiry on the server, and one that is settled has", async () => {
    const { call, recordOf } = shopOf(fromIoredis(admin), admin);
    let whileRunning: number | undefined;
    const crash = async () => {
      whileRunning = await admin.pttl(recordOf());
      throw new Error("no");
    };
    await call(crash, { whenAbandoned: "hold" }).catch(() => {});
    expect(whileRunning).toBe(-1);

    await call(() => "done", { whenAbandoned: "hold" });
    expect(await admin.pttl(recordOf())).toBeGreaterThan(0);
  });
});

describe.skipIf(!hasServer)("unknownOutcomes", () => {
  it("goes through pages, even of many with the same time, and lists each once", async () => {
    const { store } = storeOf(fromIoredis(admin), { hashTag: "one" });
    const keys = Array.from({ length: 90 }, () => freshRecordKey());
    await Promise.all(
      keys.map((recordKey, index) =>
        store.claim(
          claimOf(recordKey, { expiresAt: undefined, leaseEndsAt: index < 60 ? 1000 : 1000 + index }),
        ),
      ),
    );

    const listed = [];
    for await (const { recordKey } of store.unknownOutcomes({ before: 5000 })) listed.push(recordKey);

    expect(listed.toSorted()).toEqual(keys.toSorted());
  });

  it("reports a record as unreadable that is damaged, of another version, or was deleted", async () => {
    const { store, prefix } = storeOf(fromIoredis(admin));
    const listed = freshPrefix();
    const keys = [`${listed}#damaged`, `${listed}#later`, `${listed}#deleted`];
    for (const recordKey of keys) {
      await won(store, claimOf(recordKey, { expiresAt: undefined, leaseEndsAt: 1000 }));
    }
    for (const key of await admin.keys(`${prefix}:*`)) {
      if (key.endsWith("#damaged")) await admin.hdel(key, "state");
      if (key.endsWith("#later")) await admin.hset(key, "version", "99");
      if (key.endsWith("#deleted")) await admin.del(key);
    }

    const reported = [];
    for await (const outcome of store.unknownOutcomes({ before: 5000 })) reported.push(outcome);

    expect(reported).toHaveLength(3);
    for (const recordKey of keys)
      expect(reported).toContainEqual({ recordKey, state: "unreadable", since: 1000 });
  });
});
