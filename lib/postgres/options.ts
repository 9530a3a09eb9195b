/** The options of a PostgresStore: the client, and the table by its name. */
import { type Check, checkOptions, isNamed, methods, oneOf, seconds } from "../core/option-checks.ts";
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
   * @default false
   */
  readonly notify?: boolean;
}

export interface PostgresTransactionsOptions<Client = unknown> extends PostgresStoreOptions<Client> {
  /**
   * How long a call waits for another one with its key, and a statement of the handler for any lock, in seconds: 0.001 to 900.
   * A call that has waited so long gets ExecutionInProgressError (`EXECUTION_IN_PROGRESS`). The option `whenInProgress` of a handler counts for nothing.
   * @default 3
   */
  readonly waitSeconds?: number;
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
};

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkStore(options: object): void {
  checkOptions(options, STORE_CHECKS, ["client", "table"]);
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkTransactions(options: object): void {
  checkOptions(options, { ...STORE_CHECKS, waitSeconds: seconds(0.001, 900) }, ["client", "table"]);
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkSchema(options: object): void {
  checkOptions(options, { table: tableCheck, partitions: PARTITIONS }, ["table"]);
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
