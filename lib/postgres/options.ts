/** The options of a PostgresStore: its client and its table. */
import { InvalidOptionError } from "../core/errors.ts";
import { type Check, checkOptions, instance, isNamed, oneOf, seconds } from "../core/option-checks.ts";
import { maxReaped, type SqlDialect } from "./dialect.ts";
import type { SqlClient } from "./sql-client.ts";

export interface PostgresStoreOptions<Client = unknown> {
  /** The connection to the database: `fromPg(pool)`, or another adapter. That client's timeouts apply. */
  readonly client: SqlClient<Client>;
  /**
   * Name of the table, with or without `schema.` in front. Letters, digits and underscores, at most 48 of them. Upper case is
   * kept. `undefined`, for example from an unset environment variable, is refused.
   */
  readonly table: string | undefined;
  /**
   * Whether a commit with messages notifies listeners on the `channel` of its PostgresOutbox (`LISTEN`). Such commits run one at
   * a time in the whole database, because PostgreSQL keeps notifications in order. `dsql` has no notifications.
   * @default false
   */
  readonly notify?: boolean;
  /**
   * `"dsql"` for Aurora DSQL: the store avoids features that DSQL lacks, keeps results up to 1,020 KiB, and reaps at most 3,000
   * records at a time. Use the same value for `postgresSchema` and every store on the table.
   * @default "postgresql"
   */
  readonly dialect?: SqlDialect;
}

export interface PostgresTransactionsOptions<Client = unknown> extends PostgresStoreOptions<Client> {
  /**
   * How long a call waits for another call with its key, and a statement of the handler for any lock, in seconds: 0.001 to 900.
   * A call that has waited that long fails with ExecutionInProgressError (`EXECUTION_IN_PROGRESS`). The handler option
   * `whenInProgress` has no effect. `dsql` never waits for locks, so this option is refused there.
   * @default 3
   */
  readonly waitSeconds?: number;
}

/** Options of `fromPg` and `fromPostgresJs`. */
export interface PostgresPrepareOptions {
  /**
   * Whether the store's statements have names, so that the server parses and plans each only once per connection. By default they
   * do, except within a transaction, and except behind a pooler: the store compares the server's process with the one that the
   * connection began with. If the server refuses a name, the store sends the statement without it, and uses names no more.
   * `true` also names those within a transaction, and never checks: calls fail with `STORE_UNAVAILABLE` (26000) behind a
   * transaction pooler that doesn't support names, such as PgBouncer before 1.21. `false` names none.
   * @default - names, where that is safe
   */
  readonly prepare?: boolean;
}

const PREPARE_CHECKS = { prepare: oneOf(true, false) };

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function prepareOf(options: PostgresPrepareOptions): boolean | undefined {
  checkOptions(options, PREPARE_CHECKS, []);
  return options.prepare;
}

/** Index names append to this name, and PostgreSQL truncates names after 63 bytes. */
const TABLE = /^([A-Za-z_]\w{0,47}\.)?[A-Za-z_]\w{0,47}$/;

const tableCheck: Check = [
  "must be the name of a table, such as `idempotency` or `billing.idempotency`, with 1 to 48 letters, digits and underscores in each part: check that the environment variable it comes from is set",
  (value) => typeof value === "string" && TABLE.test(value) && isNamed(value),
];

const STORE_CHECKS = {
  client: instance("a client, such as `fromPg(pool)` or `fromPostgresJs(sql)`", "query", "transaction"),
  table: tableCheck,
  notify: oneOf(true, false),
  dialect: oneOf("postgresql", "dsql"),
};

/** Features that Aurora DSQL lacks, by the option that needs them. */
const LACKING: Readonly<Record<string, string>> = {
  notify: "it has no LISTEN and NOTIFY, so run the sweeper on a schedule",
  waitSeconds: "it has no blocking locks, and conflicts only show at commit",
  partitions: "it partitions tables by itself",
};

/** @throws InvalidOptionError (`INVALID_OPTION`) */
function checkLacking({ dialect, ...options }: { readonly [option: string]: unknown }): void {
  if (dialect !== "dsql") return;
  for (const [option, why] of Object.entries(LACKING)) {
    if (options[option])
      throw new InvalidOptionError(option, `isn't supported on Aurora DSQL (${why}): leave it out`);
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
    "must have a connection pool: a handler keeps its connection, so an operation inside the handler would wait for it forever. Pass `fromPg(pool)`",
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
  checkOptions(options, { batchSize: [`must be a whole number between 1 and ${most}`, isSize] }, []);
}

const PARTITIONS: Check = [
  "must be a whole number between 2 and 1000",
  (value) => Number.isInteger(value) && (value as number) >= 2 && (value as number) <= 1000,
];

/** The channel that is notified of commits with messages. Tables with the same name in two schemas share it. */
export function channelOf(table: string): string {
  return `onceonly_${table.split(".").at(-1)}`;
}

/** The table with the results of steps. Aurora DSQL has none. */
export function stepTableOf(table: string): string {
  return `${table}_step_results`;
}

/** The quoted name of a validated table. */
export function quoted(table: string): string {
  return table
    .split(".")
    .map((part) => `"${part}"`)
    .join(".");
}
