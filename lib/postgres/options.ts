/** The options of a PostgresStore: the client, and the table by its name. */
import { InvalidOptionError } from "../core/errors.ts";
import { type Check, checkOptions, isNamed, methods, oneOf, seconds } from "../core/option-checks.ts";
import { maxReaped, type SqlDialect } from "./dialect.ts";
import type { SqlClient } from "./sql-client.ts";

export interface PostgresStoreOptions<Client = unknown> {
  /** Reaches the database: `fromPg(pool)`, or another adapter, with the timeouts of that client. */
  readonly client: SqlClient<Client>;
  /**
   * Name of the table, with its schema before a dot or without. Letters, digits and underscores, at most 48 of them. Upper case
   * stays upper case. `undefined`, as from an environment variable that is not set, is refused.
   */
  readonly table: string | undefined;
  /**
   * Whether a commit with messages tells those who `LISTEN` on the `channel` of its PostgresOutbox. Such commits come one
   * after the other in the whole database: PostgreSQL keeps the order of its notifications.
   * `dsql` has no notifications.
   * @default false
   */
  readonly notify?: boolean;
  /**
   * `"dsql"` for Aurora DSQL: the store leaves out what that lacks, keeps results up to 1,020 KiB, and reaps 3,000 records at
   * most. Give `postgresSchema`, and each store on the table, the same.
   * @default "postgresql"
   */
  readonly dialect?: SqlDialect;
}

export interface PostgresTransactionsOptions<Client = unknown> extends PostgresStoreOptions<Client> {
  /**
   * How long a call waits for another one with its key, and a statement of the handler for any lock, in seconds: 0.001 to 900.
   * A call that has waited so long gets ExecutionInProgressError (`EXECUTION_IN_PROGRESS`). The option `whenInProgress` of a handler counts for nothing.
   * On `dsql` nobody waits for a lock, and the option is refused.
   * @default 3
   */
  readonly waitSeconds?: number;
}

/** What `fromPg` and `fromPostgresJs` take. */
export interface PostgresPrepareOptions {
  /**
   * Gives the statements of the store names, so that the server parses and plans each once for a connection. Not behind a pooler of
   * transactions that does not know them, such as PgBouncer before 1.21: calls fail there, as `STORE_UNAVAILABLE` (26000).
   * @default false
   */
  readonly prepare?: boolean;
}

const PREPARE_CHECKS = { prepare: oneOf(true, false) };

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function prepares(options: PostgresPrepareOptions): boolean {
  checkOptions(options, PREPARE_CHECKS, []);
  return options.prepare === true;
}

/** An index adds to the name, and PostgreSQL cuts names after 63 bytes. */
const TABLE = /^([A-Za-z_]\w{0,47}\.)?[A-Za-z_]\w{0,47}$/;

const [clientRule, isClient] = methods("query", "transaction");

const tableCheck: Check = [
  "must be the name of a table, such as `idempotency` or `billing.idempotency`, each part of 1 to 48 letters, digits and underscores: see that the environment variable is set from which it is read",
  (value) => typeof value === "string" && TABLE.test(value) && isNamed(value),
];

const STORE_CHECKS = {
  client: [`${clientRule}: give \`fromPg(pool)\` or \`fromPostgresJs(sql)\``, isClient] as Check,
  table: tableCheck,
  notify: oneOf(true, false),
  dialect: oneOf("postgresql", "dsql"),
};

/** What Aurora DSQL lacks, by the option that asks for it. */
const LACKING: Readonly<Record<string, string>> = {
  notify: "it has no LISTEN and NOTIFY, so let the sweeper run by a schedule",
  waitSeconds: "it has no locks that a call waits for, and a conflict shows at the commit",
  partitions: "it splits tables by itself",
};

/** @throws InvalidOptionError (`INVALID_OPTION`) */
function checkLacking({ dialect, ...options }: { readonly [option: string]: unknown }): void {
  if (dialect !== "dsql") return;
  for (const [option, why] of Object.entries(LACKING)) {
    if (options[option]) throw new InvalidOptionError(option, `must be left out for Aurora DSQL: ${why}`);
  }
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkStore(options: object): void {
  checkOptions(options, STORE_CHECKS, ["client", "table"]);
  checkLacking({ ...options });
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkTransactions(options: PostgresTransactionsOptions): void {
  checkOptions(options, { ...STORE_CHECKS, waitSeconds: seconds(0.001, 900) }, ["client", "table"]);
  checkLacking({ ...options });
  if (!options.client.isSingle) return;
  throw new InvalidOptionError(
    "client",
    "must have a pool of connections: a handler keeps its own, and an operation within the handler would wait for that for ever. Give `fromPg(pool)`",
  );
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkSchema(options: object): void {
  const { table, dialect } = { ...STORE_CHECKS };
  checkOptions(options, { table, dialect, partitions: PARTITIONS }, ["table"]);
  checkLacking({ ...options });
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkReap(options: object, dialect: SqlDialect | undefined): void {
  const most = maxReaped(dialect);
  const isSize = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
  checkOptions(options, { batchSize: [`must be a whole number from 1 to ${most}`, isSize] }, []);
}

const PARTITIONS: Check = [
  "must be a whole number from 2 to 1000",
  (value) => Number.isInteger(value) && (value as number) >= 2 && (value as number) <= 1000,
];

/** What is notified of commits with messages. Tables of one name in two schemas share it. */
export function channelOf(table: string): string {
  return `onceonly_${table.split(".").at(-1)}`;
}

/** The quoted name of a table that is checked. */
export function quoted(table: string): string {
  return table
    .split(".")
    .map((part) => `"${part}"`)
    .join(".");
}
