/** The SQL that creates the table of records. */
import type { SqlDialect } from "./dialect.ts";
import { checkSchema, quoted, stepTableOf } from "./options.ts";

export interface PostgresSchemaOptions {
  /** The store's `table`. */
  readonly table: string;
  /**
   * Number of partitions, by the hash of the key: 2 to 1000. Each key belongs to exactly one, so keys stay unique. Each
   * partition has smaller indexes and a shorter vacuum. This SQL can't partition an existing table.
   * @default - none
   */
  readonly partitions?: number;
  /**
   * The store's `dialect`. For `"dsql"` the SQL has four statements, and each must run in a separate transaction. Indexes are
   * built in the background.
   * @default "postgresql"
   */
  readonly dialect?: SqlDialect;
}

/**
 * Keeps PostgreSQL from taking a table for one of a few pages, after a vacuum or an analysis: a prepared statement would then read
 * all of it, and go on to do so while the table grows.
 */
const VACUUM =
  "autovacuum_vacuum_threshold = 500, autovacuum_analyze_threshold = 500, vacuum_truncate = false";

/** Leaves room in each page, so that the completed record fits next to its claim and PostgreSQL updates no index (HOT). */
const STORAGE = `WITH (fillfactor = 70, ${VACUUM})`;

/** Records that are listed as unknown outcomes. */
const UNSETTLED = "state = 'held' OR (state IN ('in-progress', 'released') AND expires_at IS NULL)";

/**
 * The SQL that creates the table and its indexes if they don't exist: for a migration, or for `client.query`. Times are numbers:
 * milliseconds, or seconds in `expires_at`. One index serves `reap`, and partial ones serve the list of unknown outcomes and the
 * senders of messages. On PostgreSQL pages are filled to 70 %, so that completing a record changes no index, and a second table,
 * `<table>_step_results`, has the larger results of steps. Functions need SELECT, INSERT and UPDATE on the table, and SELECT,
 * INSERT and DELETE on the second one. The role that reaps also needs DELETE on the table.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function postgresSchema(options: PostgresSchemaOptions): string {
  checkSchema(options);
  const { partitions = 0, dialect } = options;
  const isDsql = dialect === "dsql";
  const parts = Array.from(
    { length: partitions },
    (_, part) =>
      `CREATE TABLE IF NOT EXISTS ${quoted(`${options.table}_p${part}`)} PARTITION OF ${quoted(options.table)}
  FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${part}) ${STORAGE};
`,
  );
  const table = quoted(options.table);
  const name = options.table.split(".").at(-1);
  // Few records have the column `present`. PostgreSQL can keep the others out of the index; DSQL can't.
  const index = (purpose: string, columns: string, present: string) =>
    `CREATE INDEX ${isDsql ? "ASYNC " : ""}IF NOT EXISTS "${name}_${purpose}" ON ${table} (${columns})${isDsql ? "" : ` WHERE ${present} IS NOT NULL`};
`;
  return `CREATE TABLE IF NOT EXISTS ${table} (
  pk text${isDsql ? "" : ' COLLATE "C"'} PRIMARY KEY,
  version integer NOT NULL,
  state text NOT NULL,
  token text NOT NULL,
  attempt integer NOT NULL,
  lease_ends_at double precision NOT NULL,
  fingerprint text NOT NULL,
  created_at double precision NOT NULL,
  settled_at double precision,
  expires_at double precision,
  result text,
  lost_bytes integer,
  evidence text,
  steps ${isDsql ? "text" : "jsonb"},
  step_results ${isDsql ? "text" : "jsonb"},
  messages text,
  unsent_shard integer,
  due_at double precision,
  expires_once_sent double precision,
  progress text,
  sending_until double precision,
  sender text,
  unsettled_since double precision
    GENERATED ALWAYS AS (CASE WHEN ${UNSETTLED} THEN coalesce(settled_at, lease_ends_at) END) STORED
)${partitions ? " PARTITION BY HASH (pk)" : isDsql ? "" : ` ${STORAGE}`};
${parts.join("")}${index("expiry", "expires_at", "expires_at")}${index("unsettled", "unsettled_since, pk", "unsettled_since")}${index("unsent", "unsent_shard, due_at, pk", "due_at")}${isDsql ? "" : stepRowsOf(options.table)}`;
}

/** The results of steps, which PostgreSQL deletes with their record, whatever deletes it. */
function stepRowsOf(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${quoted(stepTableOf(table))} (
  pk text COLLATE "C" NOT NULL REFERENCES ${quoted(table)} ON DELETE CASCADE,
  key text COLLATE "C" NOT NULL,
  result text NOT NULL,
  PRIMARY KEY (pk, key)
) WITH (${VACUUM});
`;
}
