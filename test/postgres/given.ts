// A PostgreSQL of this run, tables of their own, and clients that are closed after each file.
import { randomUUID } from "node:crypto";
import pg from "pg";
import postgres from "postgres";
import { afterAll, inject } from "vitest";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { fromPostgresJs } from "../../lib/postgres/from-postgres-js.ts";
import { PostgresStore } from "../../lib/postgres/postgres-store.ts";
import { type PostgresSchemaOptions, postgresSchema } from "../../lib/postgres/schema.ts";
import type { SqlClient } from "../../lib/postgres/sql-client.ts";
import { NO_POSTGRES, USER } from "../kit/postgres-server.ts";
import { type PgBouncer, startPgBouncer } from "./pgbouncer-given.ts";

/** The servers that can be run here, the machine's first. */
export const servers = inject("postgresNames");

/** Without a server its tests do not run, and a printed line says what to install. */
export const hasServer = servers.length > 0;
if (!hasServer) console.warn(NO_POSTGRES);

/** The port of a server, which starts for who asks first. */
export async function portOf(name = servers[0] ?? ""): Promise<number> {
  const answer = await fetch(`${inject("postgresStarter")}/${servers.indexOf(name)}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return Number(text);
}

let bouncer: PgBouncer | undefined;

/** The port of a PgBouncer in front of the machine's first server: for one test file. */
export async function bouncerPort(): Promise<number> {
  if (bouncer === undefined) {
    bouncer = await startPgBouncer(await portOf());
    closing.push(async () => {
      const { stop } = bouncer as PgBouncer;
      bouncer = undefined;
      await stop();
    });
  }
  return bouncer.port;
}

const closing: (() => Promise<unknown>)[] = [];
afterAll(() => closeAll(closing));

/** A pool doesn't end while one of its clients waits for a server that was made silent. */
export async function closeAll(closing: (() => Promise<unknown>)[]): Promise<void> {
  const closed = Promise.all(closing.splice(0).map((close) => close()));
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 10_000).unref())]);
}

export const addressOf = (port: number) =>
  ({ host: "127.0.0.1", port, user: USER, database: "postgres" }) as const;

export function poolOf(port: number, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ ...addressOf(port), connectionTimeoutMillis: 10_000, ...options });
  // The servers of these tests end their connections.
  pool.on("error", () => {});
  closing.push(() => pool.end());
  return pool;
}

export async function clientOf(port: number, options: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ ...addressOf(port), ...options });
  client.on("error", () => {});
  await client.connect();
  closing.push(() => client.end());
  return client;
}

export function sqlOf(port: number, options: postgres.Options<Record<string, never>> = {}) {
  const sql = postgres({ ...addressOf(port), max: 10, onnotice: () => {}, fetch_types: false, ...options });
  closing.push(() => sql.end({ timeout: 1 }));
  return sql;
}

export const freshTable = (): string => `records_${randomUUID().replaceAll("-", "").slice(0, 20)}`;

/** A store on a table of its own. */
export async function storeOf<Client>(
  client: SqlClient<Client>,
  table = freshTable(),
  schema: Omit<PostgresSchemaOptions, "table"> = {},
) {
  for (const statement of postgresSchema({ table, ...schema }).split(";\n")) {
    if (statement.trim()) await client.query(statement, []);
  }
  const { dialect } = schema;
  return { store: new PostgresStore({ client, table, ...(dialect && { dialect }) }), table };
}

export const CLIENTS = {
  "pg, a pool": (port: number) => fromPg(poolOf(port)),
  "pg, a pool of one connection": (port: number) => fromPg(poolOf(port, { max: 1 })),
  "pg, a client": async (port: number) => fromPg(await clientOf(port)),
  "pg, which prepares": (port: number) => fromPg(poolOf(port), { prepare: true }),
  "postgres.js, which prepares": (port: number) => fromPostgresJs(sqlOf(port), { prepare: true }),
  "postgres.js": (port: number) => fromPostgresJs(sqlOf(port)),
  "postgres.js, which renames columns": (port: number) =>
    fromPostgresJs(sqlOf(port, { transform: postgres.pascal, max: 1 })),
} as const;
