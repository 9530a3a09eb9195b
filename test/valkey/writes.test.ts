// The writes of a commit: all of them with the record, or none.
import type { Redis } from "ioredis";
import { CommitInvalidError, TransactionConditionError } from "onceonly";
import { beforeAll, describe, expect, it } from "vitest";
import { fromIoredis } from "../../lib/valkey/from-ioredis.ts";
import type { ValkeyClient } from "../../lib/valkey/valkey-client.ts";
import type { ValkeyWrite } from "../../lib/valkey/writes.ts";
import { freshPrefix, hasServer, portOf, redisOf, storeOf } from "./given.ts";
import { shopOf } from "./shop-given.ts";

let admin: Redis;
beforeAll(async () => {
  if (hasServer) admin = redisOf(await portOf());
});

describe("checkEffects", () => {
  const { store, prefix } = storeOf({ send: async () => [] });

  it.each<[string, unknown]>([
    ["must have a command", undefined],
    ["must have a command", ["SET", "a", "1"]],
    ["must have a command", { command: ["SET", "a", "1"], onlyIf: "absent", when: "now" }],
    ["must have one of the commands", { command: ["set", "a", "1"] }],
    ["must have one of the commands", { command: ["EVAL", "return 1"] }],
    ["must have a key", { command: ["SET"] }],
    ["must have a key", { command: ["SET", 7, "1"] }],
    ["a key that belongs to the store itself", { command: ["SET", `${prefix}:{0}:a`, "1"] }],
    ['must have the condition "absent" or "present"', { command: ["SET", "a", "1"], onlyIf: true }],
    ["words after its key", { command: ["SET", "a"] }],
    ["deletes one key", { command: ["DEL", "a", "b"] }],
    ["strings without lone surrogates, or finite numbers", { command: ["SET", "a", Number.NaN] }],
    ["strings without lone surrogates, or finite numbers", { command: ["SET", "a", {}] }],
    ["strings without lone surrogates, or finite numbers", { command: ["SET", "a", "\ud800"] }],
  ])("refuses a write that %s: %j", (fault, write) => {
    const check = () => store.checkEffects({ writes: [write as ValkeyWrite], messages: [] });

    expect(check).toThrow(CommitInvalidError);
    expect(check).toThrow(fault);
  });

  it("refuses more than 100 writes", () => {
    const writes = Array<ValkeyWrite>(101).fill({ command: ["DEL", "a"] });

    expect(() => store.checkEffects({ writes, messages: [] })).toThrow("at most 100 writes (got 101)");
  });
});

describe.skipIf(!hasServer)("a commit", () => {
  it("applies its writes with the record", async () => {
    const { call, orders, stateOf } = shopOf(fromIoredis(admin), admin);

    await admin.hset(orders, "amount", "44");

    await call(({ commit }) =>
      commit("done", {
        writes: [
          { command: ["HSET", orders, "state", "paid"], onlyIf: "present" },
          { command: ["HINCRBY", orders, "amount", -4] },
        ],
      }),
    );

    expect(await admin.hgetall(orders)).toEqual({ state: "paid", amount: "40" });
    expect(await stateOf()).toBe("completed");
  });

  it.each<
    [string, (orders: string) => ValkeyWrite, typeof TransactionConditionError | typeof CommitInvalidError]
  >([
    [
      "is not absent",
      (orders) => ({ command: ["DEL", orders], onlyIf: "absent" }),
      TransactionConditionError,
    ],
    [
      "is not present",
      () => ({ command: ["DEL", freshPrefix()], onlyIf: "present" }),
      TransactionConditionError,
    ],
    [
      "is answered by nothing",
      (orders) => ({ command: ["SET", orders, "1", "NX"] }),
      TransactionConditionError,
    ],
    ["is of another type", (orders) => ({ command: ["INCRBY", orders, 1] }), CommitInvalidError],
    ["lacks words", (orders) => ({ command: ["HSET", orders, "a"] }), CommitInvalidError],
  ])(
    "whose last write %s leaves nothing of the others, and the handler may commit something else",
    async (_, last, kind) => {
      const { call, orders, stateOf, recordOf } = shopOf(fromIoredis(admin), admin);
      const fresh = freshPrefix();
      await admin.hset(orders, "seats", "3");
      await admin.expire(orders, 1000);
      let before: unknown;

      const answer = await call(async ({ commit }) => {
        before = await admin.hgetall(recordOf());
        const refused = await Promise.resolve(
          commit("booked", {
            writes: [
              { command: ["HINCRBY", orders, "seats", -1] },
              { command: ["SET", fresh, "1"] },
              { command: ["HINCRBY", orders, "seats", -1] },
              last(orders),
            ],
          }),
        ).catch((error) => error);
        expect(refused).toBeInstanceOf(kind);
        expect(refused).toMatchObject({ index: 3 });
        expect(await admin.hgetall(recordOf())).toEqual(before);
        return commit("sold out", { writes: [] });
      });

      expect(answer).toBe("sold out");
      expect([await admin.hgetall(orders), await admin.exists(fresh), await stateOf()]).toEqual([
        { seats: "3" },
        0,
        "completed",
      ]);
      expect(await admin.ttl(orders)).toBeGreaterThan(900);
    },
  );

  it("of an optimistic call that is refused leaves no record", async () => {
    const { call, orders, recordOf } = shopOf(fromIoredis(admin), admin);
    const refused = call(
      ({ commit }) => commit("done", { writes: [{ command: ["SET", orders, "1"], onlyIf: "present" }] }),
      { mode: "optimistic" },
    );

    await expect(refused).rejects.toBeInstanceOf(TransactionConditionError);
    expect(await admin.exists(recordOf(), orders)).toBe(0);
  });

  it("is one request, and so are a claim and a replay", async () => {
    const { send } = fromIoredis(admin);
    let sent = 0;
    const counting: ValkeyClient["send"] = (key, command) => {
      sent++;
      return send(key, command);
    };
    const { call, orders } = shopOf({ send: counting }, admin);
    const order = () =>
      call(({ commit }) => commit("done", { writes: [{ command: ["HSET", orders, "a", "1"] }] }));

    await order();
    // INFO comes before the first.
    expect(sent).toBe(3);
    await order();
    expect(sent).toBe(4);
  });
});
