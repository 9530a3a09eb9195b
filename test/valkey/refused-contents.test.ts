// A server whose `proto-max-bulk-len` is lower than a result: the record says that the work is done, and it isn't repeated.
import { randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startValkey, type ValkeyServer } from "../kit/valkey-server.ts";
import { inTier } from "../setup/tier.ts";
import { CLIENTS, hasServer, redisOf } from "./given.ts";
import { shopOf } from "./shop-given.ts";

const MB = 1_048_576;
/** Some clients report the server's error for the shorter text, and only a lost connection for the longer one. */
const LENGTHS = inTier<readonly (readonly [size: string, length: number])[]>(
  [["10 MB", 10 * MB]],
  [
    ["10 MB", 10 * MB],
    ["2 MB", 2 * MB],
  ],
);
const textOf = (length: number) => randomBytes(length / 2).toString("hex");

let server: ValkeyServer;
let admin: Redis;
beforeAll(async () => {
  if (!hasServer) return;
  server = await startValkey();
  admin = redisOf(server.port);
  await admin.config("SET", "proto-max-bulk-len", `${MB}`);
});
afterAll(() => server?.stop());

/** The other two are a fork and a pool of these. */
const NAMES = inTier(["ioredis", "redis, a client", "glide"], Object.keys(CLIENTS));
const CASES = NAMES.map((name) => [name, CLIENTS[name]!] as const).flatMap(([name, connect]) =>
  LENGTHS.map(([size, length]) => [name, size, length, connect] as const),
);

describe.skipIf(!hasServer).each(CASES)("with %s, %s", (_name, _size, length, connect) => {
  const LARGE = textOf(length);

  it("H84: A4: a result that the server refuses is done and not kept", async () => {
    const { call, runs, stateOf } = shopOf(await connect(server.port), admin);

    expect(await call(() => LARGE)).toHaveLength(LARGE.length);
    await expect(call(() => "again")).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });

    expect([runs(), await stateOf()]).toEqual([1, "completed"]);
  });

  it("H84: A4: so is the result of a commit, whose writes are made", async () => {
    const { call, orders, runs } = shopOf(await connect(server.port), admin);
    const writes = [{ command: ["RPUSH", orders, "a"] as const }];

    expect(await call(({ commit }) => commit(LARGE, { writes }))).toHaveLength(LARGE.length);
    await expect(call(() => "again")).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });

    expect([runs(), await admin.lrange(orders, 0, -1)]).toEqual([1, ["a"]]);
  });

  it("H84: A4: so is a final error", async () => {
    const { call, runs, stateOf } = shopOf(await connect(server.port), admin);
    const fail = () => call(() => Promise.reject(new Error(LARGE)), { isFinalError: () => true });

    expect(await fail().catch(({ message }) => message)).toHaveLength(LARGE.length);
    await expect(fail()).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });

    expect([runs(), await stateOf()]).toEqual([1, "failed"]);
  });

  it("H84: A4: so is the result of a step, which doesn't run again", async () => {
    const { call } = shopOf(await connect(server.port), admin);
    let charges = 0;
    const charge = () =>
      call(({ step }) =>
        step("charge", () => {
          charges++;
          return LARGE;
        }),
      );

    await expect(charge()).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    await expect(charge()).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });

    expect(charges).toBe(1);
  });

  it("H84: A4: a commit's write that the server refuses is reported as invalid", async () => {
    const { call, orders } = shopOf(await connect(server.port), admin);
    const writes = [{ command: ["RPUSH", orders, LARGE] as const }];

    await expect(call(({ commit }) => commit("a", { writes }))).rejects.toMatchObject({
      code: "COMMIT_INVALID",
      retryable: false,
    });
    expect(await call(({ commit }) => commit("b"))).toBe("b");
  });
});
