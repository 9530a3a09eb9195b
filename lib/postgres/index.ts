/** The entry "onceonly/postgres": the store for PostgreSQL, and adapters for its clients. */
export { fromPg, type PgClient, type PgConnection, type PgPool, type PgResult } from "./from-pg.ts";
export { fromPostgresJs, type PostgresJsSql, type PostgresJsTransaction } from "./from-postgres-js.ts";
export type { PostgresStoreOptions } from "./options.ts";
export { PostgresStore } from "./postgres-store.ts";
export { postgresSchema } from "./schema.ts";
export type { SqlClient, SqlRow, SqlTransaction, SqlValue } from "./sql-client.ts";
export type { PostgresWrite } from "./writes.ts";
