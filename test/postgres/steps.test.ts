// Steps on PostgreSQL: each in one transaction with its writes, and a retry goes on behind what is done.
import { beforeAll, describe, expect, it } from "vitest";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { hasServer, poolOf, portOf } from "./given.ts";
import { startLossyProxy } from "./proxy-given.ts";
import { shopOf } from "./shop-given.ts";

let port: number;
beforeAll(async () => {
  if (hasServer) port = await portOf();
});

describe.skipIf(!hasServer)("a step", () => {
  it("commits its writes with its result, and a retry continues after it", async () => {
    const { call, orders, ids, runs, states } = await shopOf(fromPg(poolOf(port)));
    const large = "\u0000ä".repeat(20_000);
    let isFirst = true;
    const book = () =>
      call(async ({ step, commit }) => {
        const seat = await step("seat", (own) =>
          own.commit(large, { writes: (client) => client.query(`INSERT INTO ${orders} VALUES ('seat')`) }),
        );
        if (isFirst) {
          isFirst = false;
          throw new Error("the printer is out of paper");
        }
        return commit(seat === large, {
          writes: (client) => client.query(`INSERT INTO ${orders} VALUES ('z')`),
        });
      });

    await expect(book()).rejects.toThrow("paper");
    expect(await ids()).toEqual(["seat"]);

    expect(await book()).toBe(true);
    expect([await ids(), runs(), await states()]).toEqual([["seat", "z"], 2, ["completed"]]);
  });

  it("H8: counts as written if the response to its COMMIT was lost", async () => {
    const proxy = await startLossyProxy(port);
    const { call, orders, ids, runs } = await shopOf(fromPg(poolOf(proxy.port)), fromPg(poolOf(port)));
    let tries = 0;

    const answer = await call(({ step }) =>
      step("seat", (own) =>
        own.commit("A1", {
          writes: async (client) => {
            tries++;
            await client.query(`INSERT INTO ${orders} VALUES ('seat')`);
            proxy.loseAnswerTo("COMMIT");
          },
        }),
      ),
    );

    expect([answer, await ids(), runs(), tries]).toEqual(["A1", ["seat"], 1, 1]);
  });

  it("fails closed if its record can't be read", async () => {
    const pool = poolOf(port);
    const { call, table, runs } = await shopOf(fromPg(pool));
    await call(async ({ step }) => {
      await step("seat", () => "A1");
      throw new Error("no");
    }).catch(() => {});

    for (const steps of ['{"seat":{"state":"sold"}}', '{"seat":1}', "[1]", '"seat"']) {
      await pool.query(`UPDATE ${table} SET steps = $1`, [steps]);
      await expect(call(() => "done")).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
    }
    expect(runs()).toBe(1);
  });
});
