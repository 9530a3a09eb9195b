// How many statements a call costs, which is what a database notices.
import { runOnce } from "onceonly";
import { beforeAll, describe, expect, it } from "vitest";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { PostgresTransactions } from "../../lib/postgres/postgres-transactions.ts";
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
  const within = new PostgresTransactions({ client: fromPg(pool), table: shop.table });
  return { ...shop, within, sent: () => sent.splice(0) };
}

describe.skipIf(!hasServer)("the statements", () => {
  it("of a first run are a claim and a completion, and of a replay only the claim", async () => {
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

  it("of a handler within its transaction are four around its own, and of a replay three", async () => {
    const { within, orders, sent } = await counted();
    const options = { operation: "order", store: within, leaseSeconds: 30 };
    const book = () =>
      runOnce(options, "key", {}, (execution) => {
        const client = within.clientOf(execution);
        return client.query(`INSERT INTO ${orders} VALUES ('a')`).then(() => "booked");
      });

    await book();
    expect(sent()).toEqual(["BEGIN", "WITH", "INSERT", "UPDATE", "COMMIT"]);
    await book();
    expect(sent()).toEqual(["BEGIN", "WITH", "ROLLBACK"]);
  });

  it("of a retry after a release are one more", async () => {
    const { call, sent } = await counted();
    await call(() => Promise.reject(new Error("no"))).catch(() => {});
    expect(sent()).toEqual(["WITH", "UPDATE"]);

    await call(() => "done");
    expect(sent()).toEqual(["WITH", "UPDATE", "UPDATE"]);
  });
});
