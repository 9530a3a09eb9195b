// How many statements a call costs, which is what a database notices.
import { beforeAll, describe, expect, it } from "vitest";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { hasServer, poolOf, portOf } from "./given.ts";
import { shopOf } from "./shop-given.ts";

let port: number;
beforeAll(async () => {
  if (hasServer) port = await portOf();
});

/** A shop on a pool of one connection, and the first words of what is sent over it. */
async function counted() {
  const pool = poolOf(port, { max: 1 });
  const shop = await shopOf(fromPg(pool));
  const sent: string[] = [];
  const connection = await pool.connect();
  const query = connection.query.bind(connection) as (...given: unknown[]) => unknown;
  Object.assign(connection, {
    query: (...given: unknown[]) => {
      const [statement] = given as [string | { text: string }];
      const text = typeof statement === "string" ? statement : statement.text;
      sent.push(/^\w+/.exec(text)?.[0] ?? text);
      return query(...given);
    },
  });
  connection.release();
  return { ...shop, sent: () => sent.splice(0) };
}

describe.skipIf(!hasServer)("the statements", () => {
  it("of a first run are a claim and a completion, and of a replay the claim alone", async () => {
    const { call, sent } = await counted();

    await call(() => "done");
    expect(sent()).toEqual(["WITH", "UPDATE"]);
    await call(() => "again");
    expect(sent()).toEqual(["WITH"]);
  });

  it("of a replay of more than 64 KB are two", async () => {
    const { call, sent } = await counted();
    await call(() => "x".repeat(100_000));
    sent();

    expect(await call(() => "again")).toHaveLength(100_000);
    expect(sent()).toEqual(["WITH", "SELECT"]);
  });

  it("of a commit are four around its writes", async () => {
    const { call, orders, sent } = await counted();

    await call(({ commit }) =>
      commit("done", { writes: (client) => client.query(`INSERT INTO ${orders} VALUES ('a')`) }),
    );

    expect(sent()).toEqual(["WITH", "BEGIN", "UPDATE", "INSERT", "SELECT", "COMMIT"]);
  });

  it("of an optimistic commit are a look and the transaction", async () => {
    const { call, orders, sent } = await counted();

    await call(
      ({ commit }) =>
        commit("done", { writes: (client) => client.query(`INSERT INTO ${orders} VALUES ('a')`) }),
      { mode: "optimistic" },
    );

    expect(sent()).toEqual(["SELECT", "BEGIN", "WITH", "INSERT", "SELECT", "COMMIT"]);
  });

  it("of a retry after a release are one more", async () => {
    const { call, sent } = await counted();
    await call(() => Promise.reject(new Error("no"))).catch(() => {});
    expect(sent()).toEqual(["WITH", "UPDATE"]);

    await call(() => "done");
    expect(sent()).toEqual(["WITH", "UPDATE", "UPDATE"]);
  });
});
