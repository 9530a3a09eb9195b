// The libraries above a client: each with its own transaction, and how it runs a statement in it.
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { drizzle as drizzleOverPostgresJs } from "drizzle-orm/postgres-js";
import knex from "knex";
import { type Generated, Kysely, type KyselyPlugin, PostgresDialect, sql as sqlOfKysely } from "kysely";
import { afterAll } from "vitest";
import { fromDrizzle } from "../../lib/postgres/from-drizzle.ts";
import { fromKnex } from "../../lib/postgres/from-knex.ts";
import { fromKysely } from "../../lib/postgres/from-kysely.ts";
import { fromPrisma } from "../../lib/postgres/from-prisma.ts";
import type { SqlClient } from "../../lib/postgres/sql-client.ts";
import { addressOf, closeAll, poolOf, sqlOf } from "./given.ts";
import { prismaOf } from "./prisma-given.ts";

const closing: (() => Promise<unknown>)[] = [];
afterAll(() => closeAll(closing));

export interface Orm<Transaction = unknown> {
  readonly client: SqlClient<Transaction>;
  /** Runs a statement as its users do; `text` has one `$1` at most. */
  run(transaction: Transaction, text: string, value?: string): PromiseLike<unknown>;
}

const parts = (text: string) => text.split("$1") as [string, string?];

const drizzleRun = (
  transaction: { execute(query: ReturnType<typeof sql>): PromiseLike<unknown> },
  text: string,
  value?: string,
) => {
  const [head, tail] = parts(text);
  return transaction.execute(
    tail === undefined ? sql.raw(head) : sql`${sql.raw(head)}${value}${sql.raw(tail)}`,
  );
};

/** As docs/reference/stores.md says: a connection that is lost within a transaction ends no process. */
function listeningPoolOf(port: number) {
  const pool = poolOf(port);
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

export const drizzleOf = (port: number) => drizzle(listeningPoolOf(port));

export interface KyselyTables {
  kysely_orders: { id: string; seats: Generated<number> };
}

export const kyselyOf = (port: number, plugins: KyselyPlugin[] = []) =>
  new Kysely<KyselyTables>({ dialect: new PostgresDialect({ pool: listeningPoolOf(port) }), plugins });

export function knexOf(port: number) {
  // It prints the loss of a connection.
  const log = { warn: () => {}, error: () => {} };
  const db = knex({ client: "pg", connection: { ...addressOf(port) }, pool: { min: 0, max: 10 }, log });
  closing.push(() => db.destroy());
  return db;
}

const orm = <Transaction>(client: SqlClient<Transaction>, run: Orm<Transaction>["run"]): Orm<never> =>
  ({ client, run }) as unknown as Orm<never>;

export const ORMS = {
  "Drizzle over pg": (port: number) => orm(fromDrizzle(drizzleOf(port)), drizzleRun),
  "Drizzle over postgres.js": (port: number) =>
    orm(fromDrizzle(drizzleOverPostgresJs(sqlOf(port))), drizzleRun),
  Kysely: (port: number) =>
    orm(fromKysely(kyselyOf(port)), (transaction, text, value) => {
      const [head, tail] = parts(text);
      const query =
        tail === undefined
          ? sqlOfKysely.raw(head)
          : sqlOfKysely`${sqlOfKysely.raw(head)}${value}${sqlOfKysely.raw(tail)}`;
      return query.execute(transaction);
    }),
  Knex: (port: number) =>
    orm(fromKnex(knexOf(port)), (transaction, text, value) =>
      transaction.raw(text.replace("$1", "?"), value === undefined ? [] : [value]),
    ),
  Prisma: (port: number) =>
    orm(fromPrisma(prismaOf(port)), (transaction, text, value) =>
      transaction.$queryRawUnsafe(text, ...(value === undefined ? [] : [value])),
    ),
} as const;
