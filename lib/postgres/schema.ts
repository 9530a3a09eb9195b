/** The table of records as SQL. */
import { checkSchema, quoted } from "./options.ts";

export interface PostgresSchemaOptions {
  /** As of the store. */
  readonly table: string;
  /**
   * Into how many partitions the table is split, by the hash of the key: 2 to 1000. Each key has its place in one of them, so
   * that it stays unique. Vacuum and indexes are smaller each. A table cannot be split later by this SQL.
   * @default - none
   */
  readonly partitions?: number;
}

/**
 * The SQL that makes the table and its indexes where they are not there: for a migration, or for `client.query`. Times are
 * numbers: milliseconds, and seconds in `expires_at`. One index serves `reap`, and partial ones the list of unknown outcomes
 * and the senders of messages. The functions need SELECT, INSERT and UPDATE on the table, and whoever reaps needs DELETE too.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function postgresSchema(options: PostgresSchemaOptions): string {
  checkSchema(options);
  const { partitions = 0 } = options;
  const parts = Array.from(
    { length: partitions },
    (_, part) =>
      `CREATE TABLE IF NOT EXISTS ${quoted(`${options.table}_p${part}`)} PARTITION OF ${quoted(options.table)}
  FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${part});
`,
  );
  const table = quoted(options.table);
  const name = options.table.split(".").at(-1);
  return `CREATE TABLE IF NOT EXISTS ${table} (
  pk text COLLATE "C" PRIMARY KEY,
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
  steps jsonb,
  step_results jsonb,
  messages text,
  unsent_shard integer,
  due_at double precision,
  expires_once_sent double precision,
  progress text,
  sending_until double precision,
  sender text
)${partitions ? " PARTITION BY HASH (pk)" : ""};
${parts.join("")}CREATE INDEX IF NOT EXISTS "${name}_expiry" ON ${table} (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS "${name}_unsettled" ON ${table} ((coalesce(settled_at, lease_ends_at)), pk)
  WHERE state = 'held' OR (state IN ('in-progress', 'released') AND expires_at IS NULL);
CREATE INDEX IF NOT EXISTS "${name}_unsent" ON ${table} (unsent_shard, due_at, pk) WHERE due_at IS NOT NULL;
`;
}
