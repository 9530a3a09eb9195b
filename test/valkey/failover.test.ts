// A replica is promoted that lacks the last writes: what was acknowledged is lost without WAIT, and is not with it.
import { type AddressInfo, createServer, connect as open, type Socket } from "node:net";
import type { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { claimOf, freshRecordKey, settlementOf } from "../../lib/testing/contract/given.ts";
import { fromIoredis } from "../../lib/valkey/from-ioredis.ts";
import type { Acknowledgement } from "../../lib/valkey/options.ts";
import { until } from "../kit/time/until.ts";
import { startValkey, valkeyVersion } from "../kit/valkey-server.ts";
import { afterwards, CLIENTS, hasServer, redisOf, storeOf } from "./given.ts";

/** What lies between a primary and its replica. */
async function linkTo(port: number) {
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((replica) => {
    const primary = open(port, "127.0.0.1");
    const end = () => {
      replica.destroy();
      primary.destroy();
    };
    for (const socket of [replica, primary]) {
      sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    replica.on("data", (chunk) => primary.write(chunk));
    primary.on("data", (chunk) => isCut || replica.write(chunk));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterwards(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    /** From now on the replica gets nothing, and the primary does not notice. */
    cut: () => {
      isCut = true;
    },
  };
}

async function pair(signal: AbortSignal, settings: readonly string[] = []) {
  const primary = await startValkey(["--repl-diskless-sync-delay", "0", ...settings]);
  const link = await linkTo(primary.port);
  const replica = await startValkey(["--replicaof", "127.0.0.1", `${link.port}`, ...settings]);
  afterwards(primary.stop);
  afterwards(replica.stop);
  const [admin, behind] = [redisOf(primary.port), redisOf(replica.port)];
  const isLinked = async () => (await behind.info("replication")).includes("master_link_status:up");
  const isOnline = async () => (await admin.info("replication")).includes("state=online");
  await until(async () => (await isLinked()) && (await isOnline()), { seconds: 50, signal });
  const promote = async (): Promise<Redis> => {
    await primary.stop();
    await behind.call("REPLICAOF", ["NO", "ONE"]);
    return behind;
  };
  return { primary, link, promote, admin };
}

const hasWaitAof = hasServer && !/^redis-server [67]\.[0-1]\./.test(valkeyVersion());
if (hasServer && !hasWaitAof)
  console.warn(`${valkeyVersion()} has no WAITAOF: its tests need Valkey, or Redis 7.2 or later`);

const COMPLETED = 20;

describe.skipIf(!hasServer)("a failover", () => {
  it.each<[string, Acknowledgement | undefined, number]>([
    ["loses each of 20 keys that were completed and not replicated", undefined, COMPLETED],
    ["with WAIT loses none, as none was acknowledged", { replicas: 1, timeoutMs: 20 }, 0],
  ])("%s", async (_, acknowledgedBy, expected) => {
    const { primary, link, promote } = await pair(AbortSignal.timeout(50_000));
    const { store, prefix } = storeOf(fromIoredis(redisOf(primary.port)), { acknowledgedBy });
    await store.check();
    link.cut();

    const acknowledged: string[] = [];
    for (let index = 0; index < COMPLETED; index++) {
      const recordKey = freshRecordKey();
      const settle = async () => {
        await store.claim(claimOf(recordKey));
        await store.settle(settlementOf(recordKey));
        acknowledged.push(recordKey);
      };
      await settle().catch((error) => {
        expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", failure: "unreachable" });
        expect(error.message).toContain("0 of 1 replicas had the write after 20 ms");
      });
    }

    const promoted = storeOf(fromIoredis(await promote()), { prefix }).store;
    let lost = 0;
    for (const recordKey of acknowledged) {
      if (!(await promoted.find(recordKey, { consistent: true }))) lost++;
    }
    expect([acknowledged.length, lost]).toEqual([expected, expected]);
  });

  it.each(Object.entries(CLIENTS))("with WAIT each write is on the replica, with %s", async (_, connect) => {
    const { primary, promote } = await pair(AbortSignal.timeout(50_000));
    const acknowledgedBy = { replicas: 1, timeoutMs: 30_000 };
    const { store, prefix } = storeOf(await connect(primary.port), { acknowledgedBy });
    const recordKey = freshRecordKey();
    await store.claim(claimOf(recordKey));
    expect(await store.settle(settlementOf(recordKey))).toEqual({ settled: true });

    const promoted = storeOf(fromIoredis(await promote()), { prefix }).store;
    expect(await promoted.find(recordKey, { consistent: true })).toMatchObject({ state: "completed" });
  });

  describe.skipIf(!hasWaitAof)("with WAITAOF", () => {
    it.each(Object.entries(CLIENTS))("each write is on both disks, with %s", async (_, connect) => {
      const { primary, promote } = await pair(AbortSignal.timeout(50_000), ["--appendfsync", "everysec"]);
      const acknowledgedBy = { replicas: 1, timeoutMs: 30_000, onDisk: true };
      const { store, prefix } = storeOf(await connect(primary.port), { acknowledgedBy });
      const recordKey = freshRecordKey();
      await store.claim(claimOf(recordKey));
      expect(await store.settle(settlementOf(recordKey))).toEqual({ settled: true });

      const promoted = storeOf(fromIoredis(await promote()), { prefix }).store;
      expect(await promoted.find(recordKey, { consistent: true })).toMatchObject({ state: "completed" });
    });

    it("a write that no replica has on its disk is not acknowledged", async () => {
      const { primary, link } = await pair(AbortSignal.timeout(50_000), ["--appendfsync", "always"]);
      const acknowledgedBy = { replicas: 1, timeoutMs: 20, onDisk: true };
      const { store } = storeOf(fromIoredis(redisOf(primary.port)), { acknowledgedBy });
      await store.check();
      link.cut();

      await expect(store.claim(claimOf(freshRecordKey()))).rejects.toThrow("0 of 1 replicas");
    });

    it("a write that is not on the disk of the primary is not acknowledged", async () => {
      const { primary, admin } = await pair(AbortSignal.timeout(50_000), ["--appendfsync", "always"]);
      const acknowledgedBy = { replicas: 0, timeoutMs: 20, onDisk: true };
      const { store } = storeOf(fromIoredis(redisOf(primary.port)), { acknowledgedBy });
      await store.check();
      await admin.config("SET", "appendonly", "no");

      await expect(store.claim(claimOf(freshRecordKey()))).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
      });
    });
  });

  it("a repetition of a write that no replica had is not acknowledged either", async () => {
    const { primary, link } = await pair(AbortSignal.timeout(50_000));
    const acknowledgedBy = { replicas: 1, timeoutMs: 20 };
    const claims = () =>
      storeOf(fromIoredis(redisOf(primary.port)), { acknowledgedBy, prefix: "again" }).store;
    const recordKey = freshRecordKey();
    await claims().check();
    link.cut();
    await expect(claims().claim(claimOf(recordKey))).rejects.toThrow("0 of 1 replicas");

    // Over another connection, which has written nothing before.
    await expect(claims().claim(claimOf(recordKey))).rejects.toThrow("0 of 1 replicas");
  });
});
