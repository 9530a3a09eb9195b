// The floors of the servers: the two smallest commands that make a request happen once, without any of the checks that make it
// safe. What a store costs above them is what the package costs.
import { Redis } from "ioredis";
import pg from "pg";

export type FloorName = "floor over Valkey" | "floor over PostgreSQL";

export const FLOOR_TABLE =
  "CREATE TABLE IF NOT EXISTS floor (pk text PRIMARY KEY, result text) WITH (fillfactor = 70)";

/** Resolves to the first answer of the key. */
type CallOnce = (
  key: string,
  work: () => Promise<string>,
) => Promise<{ readonly body: string; readonly isReplay: boolean }>;

const PENDING = "pending";

function overValkey(port: number): CallOnce {
  const client = new Redis(port, "127.0.0.1");
  return async (key, work) => {
    const seen = await client.set(`floor:${key}`, PENDING, "EX", 86_400, "NX", "GET");
    if (seen !== null) return { body: seen, isReplay: true };
    const body = await work();
    await client.set(`floor:${key}`, body, "EX", 86_400);
    return { body, isReplay: false };
  };
}

const INSERT = "INSERT INTO floor (pk, result) VALUES ($1, $2) ON CONFLICT DO NOTHING";

function overPostgres(port: number): CallOnce {
  const pool = new pg.Pool({ host: "127.0.0.1", port, user: "onceonly", database: "postgres", max: 20 });
  return async (key, work) => {
    const claim = await pool.query({ name: "claim", text: INSERT, values: [key, PENDING] });
    if (claim.rowCount === 0) {
      const find = { name: "find", text: "SELECT result FROM floor WHERE pk = $1", values: [key] };
      const { rows } = await pool.query(find);
      return { body: rows[0].result, isReplay: true };
    }
    const body = await work();
    const complete = {
      name: "complete",
      text: "UPDATE floor SET result = $2 WHERE pk = $1",
      values: [key, body],
    };
    await pool.query(complete);
    return { body, isReplay: false };
  };
}

export const FLOORS: Readonly<Record<FloorName, (setup: { readonly at: string }) => CallOnce>> = {
  "floor over Valkey": ({ at }) => overValkey(Number(at)),
  "floor over PostgreSQL": ({ at }) => overPostgres(Number(at)),
};
