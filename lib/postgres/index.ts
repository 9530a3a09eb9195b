/** Entry "onceonly/postgres": the PostgreSQL store, and adapters for its clients. */
export type { SqlDialect } from "./dialect.ts";
export { type DrizzleDatabase, type DrizzleTransaction, fromDrizzle } from "./from-drizzle.ts";
export { fromKnex, type KnexDatabase, type KnexOpenTransaction, type KnexTransaction } from "./from-knex.ts";
export { fromKysely, type KyselyDatabase, type KyselyTransaction } from "./from-kysely.ts";
export {
  fromPg,
  type PgClient,
  type PgConnection,
  type PgPool,
  type PgResult,
  type PgStatement,
} from "./from-pg.ts";
export { fromPostgresJs, type PostgresJsSql, type PostgresJsTransaction } from "./from-postgres-js.ts";
export { fromPrisma, type PrismaDatabase, type PrismaTransaction } from "./from-prisma.ts";
export type { PostgresPrepareOptions, PostgresStoreOptions, PostgresTransactionsOptions } from "./options.ts";
export { PostgresOutbox } from "./postgres-outbox.ts";
export { PostgresStore } from "./postgres-store.ts";
export { PostgresTransactions } from "./postgres-transactions.ts";
export { type PostgresSchemaOptions, postgresSchema } from "./schema.ts";
export type { SqlClient, SqlRow, SqlTransaction, SqlValue } from "./sql-client.ts";
export type { PostgresWrite } from "./writes.ts";
