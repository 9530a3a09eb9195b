/** The SQL of each store operation, for one table. No I/O. */
import { RECORD_FEATURES, RECORD_VERSION } from "../contract.ts";
import type { IdempotencyRecord, State } from "../core/record.ts";
import type { Claim, Insertion, Renewal, Settlement } from "../core/store.ts";
import type { SqlDialect } from "./dialect.ts";
import { channelOf, quoted, stepTableOf } from "./options.ts";
import { BEGAN, mine, NOW } from "./record-sql.ts";
import { COLUMNS, columnsOfBeginning, columnsOfSettlement } from "./record-values.ts";
import { roomOf } from "./room.ts";
import type { SqlValue } from "./sql-client.ts";
import { type Placeholders, type SqlStatement, statement } from "./statement.ts";
import { stepStatements } from "./step-statements.ts";

/** A larger result is only loaded for a replay, so that a refused claim stays small. */
const MAX_READ_BYTES = 64 * 1024;

/**
 * How far a completion may bring the end of a record forward and still leave the indexed `expires_at` as it is (seconds). The
 * claim's own end is later by the rest of its lease. As long as no indexed column changes, PostgreSQL updates no index.
 */
const MAX_LATE_REAP_SECONDS = 3600;

/** The end of a record. If `expires_at`, which `reap` uses, is later, the exact end is in `expires_once_sent`. */
const EXPIRES_AT = "CASE WHEN r.expires_at IS NOT NULL THEN coalesce(r.expires_once_sent, r.expires_at) END";

/** PostgreSQL knows the length of a text without reading it. */
const RECORD = `json_strip_nulls(json_build_object('recordKey', r.pk, 'version', r.version, 'state', r.state,
  'token', r.token, 'attempt', r.attempt, 'leaseEndsAt', r.lease_ends_at, 'fingerprint', r.fingerprint,
  'createdAt', r.created_at, 'settledAt', r.settled_at, 'expiresAt', ${EXPIRES_AT}, 'evidence', r.evidence,
  'steps', r.steps::jsonb, 'result', CASE WHEN octet_length(r.result) <= ${MAX_READ_BYTES} THEN r.result END,
  'bytes', octet_length(r.result), 'lostBytes', r.lost_bytes))`;

/**
 * Refuses a database with another encoding before anything runs. Such a database lacks characters that results may contain, and
 * would refuse to record completed work.
 */
const inUtf8 = (
  value: string,
  type: string,
) => `CASE current_setting('server_encoding') WHEN 'UTF8' THEN ${value}
  ELSE (current_setting('server_encoding') || ' is not UTF8')::${type} END`;

export type RecordStatements = ReturnType<typeof recordStatements>;

type Beginning = Claim | Insertion<unknown>;

/** The store options that determine its SQL. */
export interface SqlShape {
  readonly table: string;
  /** Whether a commit with messages notifies listeners on the table's channel. */
  readonly notify?: boolean | undefined;
  readonly dialect?: SqlDialect | undefined;
}

export function recordStatements({ table, notify: notifies = false, dialect }: SqlShape) {
  const name = quoted(table);
  const room = roomOf(dialect);
  // DSQL shows no sessions.
  const session = dialect === "dsql" ? `'began', ${BEGAN}` : `'began', ${BEGAN}, 'pid', pg_backend_pid()`;
  const changed = `RETURNING json_build_object('serverTimeMs', ${NOW}, ${session})::text AS answer`;
  const notified = (condition: string) =>
    notifies
      ? `, CASE WHEN ${condition} THEN pg_notify('${channelOf(table)}', '')::text END AS notified`
      : "";

  // DSQL has no other encoding.
  const checked = (version: string) =>
    dialect === "dsql" ? version : inUtf8(`${version}::integer`, "integer");
  const isReadable = dialect === "dsql" ? "true" : inUtf8("true", "boolean");
  const valueFor = (p: Placeholders<(typeof COLUMNS)[number]>, column: (typeof COLUMNS)[number]) =>
    column === "version" ? checked(p.version) : p[column];

  const insert = statement("INSERT", COLUMNS, (p) => {
    const given = COLUMNS.map((column) => valueFor(p, column));
    const make = `INSERT INTO ${name} (${COLUMNS.join(", ")}) VALUES (${given.join(", ")})
  ON CONFLICT (pk) DO NOTHING`;
    // DSQL doesn't document changes within WITH: a refused claim reads the record with a second statement.
    if (dialect === "dsql") return `${make} ${changed}`;
    // Both in one statement: the record is created, or the existing one is read. A record created while this statement waited is
    // in neither, because the snapshot is older.
    return `WITH made AS (
  ${make} RETURNING ${NOW} AS now
)
SELECT json_strip_nulls(json_build_object('serverTimeMs', made.now, ${session},
  'record', CASE WHEN made.now IS NULL AND r.pk IS NOT NULL THEN ${RECORD} END))::text AS answer${notified(`made.now IS NOT NULL AND ${p.messages}::text IS NOT NULL`)}
FROM (SELECT 1) AS one LEFT JOIN made ON true LEFT JOIN ${name} AS r ON r.pk = ${p.pk}`;
  });

  /** A change after which a record may lack its steps. Then the rows of their results go with them. */
  const update = <Name extends string>(
    names: readonly Name[],
    write: (p: Placeholders<Name | "pk">) => string,
  ) => {
    const keeping = statement<Name | "pk">("UPDATE", names, write);
    const dropping = statement<Name | "pk">(
      "UPDATE",
      names,
      (p) => `WITH changed AS (
${write(p)}
), removed AS (
  DELETE FROM ${quoted(stepTableOf(table))} AS s WHERE s.pk = ${p.pk} AND EXISTS (SELECT FROM changed)
)
SELECT * FROM changed`,
    );
    return (values: Readonly<Record<Name | "pk", SqlValue>>, dropsRows: boolean) =>
      dropsRows && dialect !== "dsql" ? dropping(values) : keeping(values);
  };

  // The record is unchanged since it was seen: no other call has claimed, finished or renewed it. Its version is the steps'
  // version as long as it has any, like `versionOf` in core.
  const takeOver = update([...COLUMNS, "keepsSteps", "seenToken", "seenState", "seenLeaseEndsAt"], (p) => {
    const assigned = COLUMNS.slice(2, -1).map((column) => `${column} = ${valueFor(p, column)}`);
    return `UPDATE ${name} AS r SET version = CASE WHEN ${p.keepsSteps}::boolean THEN r.version ELSE ${checked(p.version)} END, ${assigned.join(", ")},
  evidence = coalesce(${p.evidence}, CASE WHEN ${p.keepsSteps}::boolean THEN r.evidence END),
  steps = CASE WHEN ${p.keepsSteps}::boolean THEN r.steps END,
  step_results = CASE WHEN ${p.keepsSteps}::boolean THEN r.step_results END, progress = NULL
WHERE r.pk = ${p.pk} AND r.token = ${p.seenToken} AND r.state = ${p.seenState} AND r.lease_ends_at = ${p.seenLeaseEndsAt} ${changed}${notified(`${p.messages}::text IS NOT NULL`)}`;
  });

  const settlement = [
    ...(["pk", "token", "state", "settled_at", "expires_at", "result", "lost_bytes", "evidence"] as const),
    ...(["keepsSteps", "messages", "unsent_shard", "due_at", "expires_once_sent"] as const),
  ];
  const settleIf = (condition: string, p: Placeholders<(typeof settlement)[number]>) => {
    const expiresAt = `${p.expires_at}::double precision`;
    const keepsIndex = `${expiresAt} BETWEEN r.expires_at - ${MAX_LATE_REAP_SECONDS} AND r.expires_at`;
    return `UPDATE ${name} AS r SET state = ${p.state}, settled_at = ${p.settled_at}, result = ${p.result}, lost_bytes = ${p.lost_bytes},
  expires_at = CASE WHEN ${keepsIndex} THEN r.expires_at ELSE ${expiresAt} END,
  expires_once_sent = CASE WHEN ${keepsIndex} THEN ${expiresAt} ELSE ${p.expires_once_sent} END,
  evidence = coalesce(${p.evidence}, r.evidence), steps = CASE WHEN ${p.keepsSteps}::boolean THEN r.steps END,
  step_results = CASE WHEN ${p.keepsSteps}::boolean THEN r.step_results END,
  version = CASE WHEN ${p.keepsSteps}::boolean THEN r.version ELSE ${RECORD_VERSION} END,
  messages = ${p.messages}, unsent_shard = ${p.unsent_shard}, due_at = ${p.due_at}
WHERE ${condition} ${changed}${notified(`${p.messages}::text IS NOT NULL`)}`;
  };

  const settle = update(settlement, (p) => settleIf(mine(p), p));

  // The transaction that made this claim is still open: the handler sent no COMMIT or ROLLBACK.
  const settleWithin = update([...settlement, "began"], (p) =>
    settleIf(`${mine(p)} AND ${BEGAN} = ${p.began}`, p),
  );

  // A copy that arrives late finds a later lease, or an expiry that a step has removed.
  const renew = statement(
    "UPDATE",
    ["pk", "token", "leaseEndsAt", "expiresAt"],
    (
      p,
    ) => `UPDATE ${name} AS r SET lease_ends_at = ${p.leaseEndsAt}, expires_at = coalesce(${p.expiresAt}, r.expires_at)
WHERE ${mine(p)} AND r.lease_ends_at <= ${p.leaseEndsAt}
  AND (r.expires_at IS NOT NULL OR coalesce(${p.expiresAt}, r.expires_at) IS NULL) ${changed}`,
  );

  const find = statement(
    "SELECT",
    ["pk"],
    (p) => `SELECT json_build_object('record', ${RECORD})::text AS answer FROM ${name} AS r
WHERE r.pk = ${p.pk} AND ${isReadable}`,
  );

  const loadResult = statement(
    "SELECT",
    ["pk", "token"],
    (p) =>
      `SELECT r.result AS answer FROM ${name} AS r WHERE r.pk = ${p.pk} AND r.token = ${p.token} AND r.result IS NOT NULL`,
  );

  const unsettled = statement(
    "SELECT",
    ["before", "since", "pk", "limit"],
    (
      p,
    ) => `SELECT json_build_object('since', r.unsettled_since, 'record', ${RECORD})::text AS answer FROM ${name} AS r
WHERE r.unsettled_since < ${p.before} AND (r.unsettled_since, r.pk) > (${p.since}, ${p.pk}) ORDER BY r.unsettled_since, r.pk LIMIT ${p.limit}`,
  );

  // A record that is claimed again in the meantime stays. On PostgreSQL, processes that reap at the same time get different
  // records. The index can only find the end of the scan because `now()` is constant within a statement. The array makes
  // PostgreSQL look up each key: for `IN` it may read the whole table.
  const reap = statement("DELETE", ["from", "to", "batchSize"], (p) => {
    const expired = `SELECT pk FROM ${name} WHERE expires_at >= ${p.from}
  AND expires_at <= least(${p.to}, extract(epoch FROM now())::double precision) ORDER BY expires_at LIMIT ${p.batchSize}`;
    const deleting = `DELETE FROM ${name} AS r`;
    const reaped = "RETURNING r.expires_at::text AS answer";
    return dialect === "dsql"
      ? `${deleting} WHERE pk IN (${expired}) ${reaped}`
      : `${deleting} USING unnest(ARRAY(${expired} FOR UPDATE SKIP LOCKED)) AS expired (pk) WHERE r.pk = expired.pk ${reaped}`;
  });

  // This is still the transaction that changed the record, and none of its statements has failed.
  const isSame = statement(
    "SELECT",
    ["pk", "token", "began"],
    (p) =>
      `SELECT '1' AS answer FROM ${name} AS r WHERE r.pk = ${p.pk} AND r.token = ${p.token} AND ${BEGAN} = ${p.began}`,
  );

  // A process with the same number that started later is another session. If the view doesn't show this session itself, or is a
  // replica's, it says nothing about the handler's session.
  const isGone = statement(
    "SELECT",
    ["pid", "began"],
    (p) => `SELECT json_build_object('isGone', NOT pg_is_in_recovery() AND bool_or(pid = pg_backend_pid())
  AND NOT bool_or(pid = ${p.pid}::integer AND coalesce(extract(epoch FROM backend_start) <= ${p.began}::double precision, true)))::text AS answer
FROM pg_stat_activity`,
  );

  const begin = (beginning: Beginning, state: State, seen?: IdempotencyRecord): SqlStatement => {
    const columns = columnsOfBeginning(beginning, state, room, seen);
    if (seen === undefined) return insert(columns);
    const { token: seenToken, state: seenState, leaseEndsAt: seenLeaseEndsAt } = seen;
    const { keepsSteps } = beginning;
    const hasRows = (seen.version & RECORD_FEATURES.stepRows) !== 0;
    const values = { ...columns, keepsSteps, seenToken, seenState, seenLeaseEndsAt };
    return takeOver(values, hasRows && !keepsSteps);
  };

  return {
    claim: (claim: Claim, seen?: IdempotencyRecord) => begin(claim, "in-progress", seen),

    insert: (insertion: Insertion<unknown>, seen?: IdempotencyRecord) =>
      begin(insertion, insertion.state, seen),

    /**
     * @param began when the claim's transaction began, if this must be the same one
     * @param seen the record, if it may have steps that stay
     */
    settle: (
      settlement: Settlement<unknown> | Insertion<unknown>,
      { began, seen }: { readonly began?: string; readonly seen?: IdempotencyRecord | undefined } = {},
    ): SqlStatement => {
      const columns = columnsOfSettlement(settlement, room, seen);
      const dropsRows = !columns.keepsSteps;
      return began === undefined
        ? settle(columns, dropsRows)
        : settleWithin({ ...columns, began }, dropsRows);
    },

    renew: ({ recordKey: pk, token, leaseEndsAt, expiresAt }: Renewal) =>
      renew({ pk, token, leaseEndsAt, expiresAt: expiresAt ?? null }),

    ...stepStatements(table, dialect),

    find: (pk: string) => find({ pk }),

    loadResult: (pk: string, token: string) => loadResult({ pk, token }),

    /** A page of the records that come after `since` and `pk`. */
    unsettled: (before: number, since: number, pk: string, limit: number) =>
      unsettled({ before, since, pk, limit }),

    /** Deletes expired records whose `expires_at` is in this range, the oldest first. */
    reap: (from: number, to: number, batchSize: number) => reap({ from, to, batchSize }),

    /** Whether the session of this process, with the transaction that began then, has ended. */
    isGone: (pid: number, began: string) => isGone({ pid, began }),

    isSame: (pk: string, token: string, began: string) => isSame({ pk, token, began }),
  };
}
