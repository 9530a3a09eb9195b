/** The SQL of each move of the port, for one table. No I/O. */
import { OUTBOX_SHARDS, RECORD_VERSION, STEPS_VERSION } from "../contract.ts";
import { hashTuple } from "../core/identity.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { type IdempotencyRecord, isTracked, type State } from "../core/record.ts";
import type { Claim, Effects, Insertion, Renewal, Settlement, StepChange } from "../core/store.ts";
import type { SqlDialect } from "./dialect.ts";
import { channelOf, quoted } from "./options.ts";
import { bytesInJson, type Room, roomForResult, roomOf, storedMessages } from "./room.ts";
import type { SqlValue } from "./sql-client.ts";

export interface SqlStatement {
  readonly action: "INSERT" | "UPDATE" | "SELECT" | "DELETE";
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** A larger result is loaded by whoever replays it: a refused claim stays small. */
const MAX_TOLD_BYTES = 64 * 1024;

/** Every claim that is refused reads all steps. A larger result has a column of its own, which only a replay reads. */
const MAX_STEP_CHARACTERS = 4096;

/** Epoch ms of the server. */
const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::double precision";

/** Tells a transaction from the next one, which begins later: a COMMIT in between was somebody's. */
const BEGAN = "extract(epoch FROM now())::text";

/** The length of a text is known without reading the text. */
const RECORD = `json_strip_nulls(json_build_object('recordKey', r.pk, 'version', r.version, 'state', r.state,
  'token', r.token, 'attempt', r.attempt, 'leaseEndsAt', r.lease_ends_at, 'fingerprint', r.fingerprint,
  'createdAt', r.created_at, 'settledAt', r.settled_at, 'expiresAt', r.expires_at, 'evidence', r.evidence,
  'steps', r.steps::jsonb, 'result', CASE WHEN octet_length(r.result) <= ${MAX_TOLD_BYTES} THEN r.result END,
  'bytes', octet_length(r.result), 'lostBytes', r.lost_bytes))`;

/** The columns of a record that a claim or an insertion makes, in the order of their values. */
const COLUMNS = [
  "pk",
  "version",
  "state",
  "token",
  "attempt",
  "lease_ends_at",
  "fingerprint",
  "created_at",
  "settled_at",
  "expires_at",
  "result",
  "lost_bytes",
  "messages",
  "unsent_shard",
  "due_at",
  "expires_once_sent",
  "evidence",
] as const;

/**
 * Refuses a database of another encoding before anything runs. Such a database lacks characters that results may have, and
 * would refuse the record of work that is done.
 */
const inUtf8 = (
  value: string,
  type: string,
) => `CASE current_setting('server_encoding') WHEN 'UTF8' THEN ${value}
  ELSE (current_setting('server_encoding') || ' is not UTF8')::${type} END`;

/** The claim is mine and I have not finished. */
const MINE = "r.pk = $1 AND r.token = $2 AND r.state = 'in-progress'";

export type RecordStatements = ReturnType<typeof recordStatements>;

type Beginning = Claim | Insertion<unknown>;

/** The options of a store that decide its SQL. */
export interface SqlShape {
  readonly table: string;
  /** Whether a commit with messages tells those who listen on the channel of the table. */
  readonly notify?: boolean | undefined;
  readonly dialect?: SqlDialect | undefined;
}

export function recordStatements({ table, notify: notifies = false, dialect }: SqlShape) {
  const name = quoted(table);
  const room = roomOf(dialect);
  const changed = `RETURNING json_build_object('serverTimeMs', ${NOW}, 'began', ${BEGAN})::text AS answer`;
  const notified = (condition: string) =>
    notifies
      ? `, CASE WHEN ${condition} THEN pg_notify('${channelOf(table)}', '')::text END AS notified`
      : "";

  /**
   * The two moves in one statement: the record is made, or the one that is there is read. A record that somebody made while this
   * statement waited is in neither: the snapshot is older.
   */
  // DSQL has no other encoding.
  const version = dialect === "dsql" ? "$2" : inUtf8("$2::integer", "integer");
  const isReadable = dialect === "dsql" ? "true" : inUtf8("true", "boolean");
  const given = COLUMNS.map((column, index) => (column === "version" ? version : `$${index + 1}`));
  const make = `INSERT INTO ${name} (${COLUMNS.join(", ")}) VALUES (${given.join(", ")})
  ON CONFLICT (pk) DO NOTHING`;
  const makeOrRead = `WITH made AS (
  ${make} RETURNING ${NOW} AS now
)
SELECT json_strip_nulls(json_build_object('serverTimeMs', made.now, 'began', ${BEGAN},
  'record', CASE WHEN made.now IS NULL AND r.pk IS NOT NULL THEN ${RECORD} END))::text AS answer${notified("made.now IS NOT NULL AND $13::text IS NOT NULL")}
FROM (SELECT 1) AS one LEFT JOIN made ON true LEFT JOIN ${name} AS r ON r.pk = $1`;
  // DSQL documents no change within WITH: whoever comes second reads the record by a statement more.
  const insert = dialect === "dsql" ? `${make} ${changed}` : makeOrRead;

  // The version is that of the steps as long as the record has any: `versionOf` of core.
  const assigned = COLUMNS.slice(2, -1).map((column, index) => `${column} = ${given[index + 2]}`);
  // The record is still the one that was seen: nobody has claimed, finished or renewed it since.
  const takeOver = `UPDATE ${name} AS r SET version = CASE WHEN $18::boolean THEN r.version ELSE ${version} END, ${assigned.join(", ")},
  evidence = coalesce($17, CASE WHEN $18::boolean THEN r.evidence END),
  steps = CASE WHEN $18::boolean THEN r.steps END,
  step_results = CASE WHEN $18::boolean THEN r.step_results END, progress = NULL
WHERE r.pk = $1 AND r.token = $19 AND r.state = $20 AND r.lease_ends_at = $21 ${changed}${notified("$13::text IS NOT NULL")}`;

  const settle = `UPDATE ${name} AS r SET state = $3, settled_at = $4, expires_at = $5, result = $6, lost_bytes = $7,
  evidence = coalesce($8, r.evidence), steps = CASE WHEN $9::boolean THEN r.steps END,
  step_results = CASE WHEN $9::boolean THEN r.step_results END,
  version = CASE WHEN $9::boolean THEN r.version ELSE ${RECORD_VERSION} END,
  messages = $10, unsent_shard = $11, due_at = $12, expires_once_sent = $13
WHERE ${MINE} ${changed}${notified("$10::text IS NOT NULL")}`;

  // Neither a COMMIT nor a ROLLBACK of the handler's own has ended the transaction that made this claim.
  const settleWithin = settle.replace(MINE, `${MINE} AND ${BEGAN} = $14`);

  // A copy that arrives late finds a later lease, or an expiry that a step has taken.
  const renew = `UPDATE ${name} AS r SET lease_ends_at = $3, expires_at = coalesce($4, r.expires_at)
WHERE ${MINE} AND r.lease_ends_at <= $3
  AND (r.expires_at IS NOT NULL OR coalesce($4, r.expires_at) IS NULL) ${changed}`;

  const isWithin = (column: string, most: number) =>
    most === Number.POSITIVE_INFINITY
      ? "true"
      : `coalesce(octet_length(r.${column}::text), 0) + $6::integer <= ${most}`;
  // The result of a step is one more in a column that may be full. Then the step is written without it.
  const hasRoom = `CASE WHEN $5::text IS NULL THEN true
    WHEN $7::text IS NULL THEN ${isWithin("steps", room.steps)}
    ELSE ${isWithin("step_results", room.stepResults)} END`;

  // The step is still the one that was seen. The lease moves, so that a claim over what was seen before finds another one.
  const writeStep = `UPDATE ${name} AS r SET lease_ends_at = r.lease_ends_at + 1, version = ${STEPS_VERSION},
  steps = coalesce(r.steps::jsonb, '{}')
    || jsonb_build_object($3::text, CASE WHEN ${hasRoom} THEN $4::text ELSE $5::text END::jsonb),
  step_results = CASE WHEN $7::text IS NULL OR NOT ${hasRoom} THEN r.step_results::jsonb
    ELSE coalesce(r.step_results::jsonb, '{}') || jsonb_build_object($7::text, $8::text) END,
  expires_at = CASE WHEN $9::boolean THEN NULL ELSE r.expires_at END
WHERE ${MINE} AND (r.steps IS NULL) = $10::boolean
  AND r.steps::jsonb -> $3::text ->> 'state' IS NOT DISTINCT FROM $11::text
  AND (r.steps::jsonb -> $3::text ->> 'attempt')::double precision IS NOT DISTINCT FROM $12::double precision
  AND (r.steps::jsonb -> $3::text ->> 'at')::double precision IS NOT DISTINCT FROM $13::double precision
RETURNING json_build_object('serverTimeMs', ${NOW}, 'began', ${BEGAN},
  'lostBytes', r.steps::jsonb -> $3::text -> 'lostBytes')::text AS answer`;

  const find = `SELECT json_build_object('record', ${RECORD})::text AS answer FROM ${name} AS r
WHERE r.pk = $1 AND ${isReadable}`;

  const loadResult = `SELECT r.result AS answer FROM ${name} AS r WHERE r.pk = $1 AND r.token = $2 AND r.result IS NOT NULL`;

  const loadStepResult = `SELECT r.step_results::jsonb ->> $2 AS answer FROM ${name} AS r WHERE r.pk = $1`;

  const unsettled = `SELECT json_build_object('since', r.unsettled_since, 'record', ${RECORD})::text AS answer FROM ${name} AS r
WHERE r.unsettled_since < $1 AND (r.unsettled_since, r.pk) > ($2, $3) ORDER BY r.unsettled_since, r.pk LIMIT $4`;

  // A record that is claimed anew meanwhile stays. On PostgreSQL, whoever reaps at the same time takes others.
  const reap = `DELETE FROM ${name} WHERE pk IN (
  SELECT pk FROM ${name} WHERE expires_at <= extract(epoch FROM clock_timestamp())::double precision
  ORDER BY expires_at LIMIT $1${dialect === "dsql" ? "" : " FOR UPDATE SKIP LOCKED"}
) RETURNING '1' AS answer`;

  // The transaction that changed the record is still this one, and no statement of it has failed.
  const isSame = `SELECT '1' AS answer FROM ${name} AS r WHERE r.pk = $1 AND r.token = $2 AND ${BEGAN} = $3`;

  const begin = (beginning: Beginning, state: State, seen?: IdempotencyRecord): SqlStatement => {
    const { keepsSteps } = beginning;
    const values = beginningValues(beginning, state, room, seen);
    if (seen === undefined) return { action: "INSERT", text: insert, values };
    const { token, state: seenState, leaseEndsAt } = seen;
    return {
      action: "UPDATE",
      text: takeOver,
      values: [...values, keepsSteps, token, seenState, leaseEndsAt],
    };
  };

  return {
    claim: (claim: Claim, seen?: IdempotencyRecord) => begin(claim, "in-progress", seen),

    insert: (insertion: Insertion<unknown>, seen?: IdempotencyRecord) =>
      begin(insertion, insertion.state, seen),

    /**
     * @param began when the transaction of the claim began, where this one has to be the same
     * @param seen the record, where it may have steps that stay
     */
    settle: (
      settlement: Settlement<unknown> | Insertion<unknown>,
      { began, seen }: { readonly began?: string; readonly seen?: IdempotencyRecord | undefined } = {},
    ): SqlStatement => {
      const { recordKey, token, state, now, evidence = null } = settlement;
      const waiting = waitingValues(settlement, room);
      const values: SqlValue[] = [
        recordKey,
        token,
        state,
        now,
        waiting.expiresAt,
        ...resultValues(settlement, roomForResult(room, waiting.bytes, seen)),
        evidence,
        !("dropsSteps" in settlement && settlement.dropsSteps),
        ...waiting.columns,
      ];
      if (began === undefined) return { action: "UPDATE", text: settle, values };
      return { action: "UPDATE", text: settleWithin, values: [...values, began] };
    },

    renew: ({ recordKey, token, leaseEndsAt, expiresAt }: Renewal): SqlStatement => ({
      action: "UPDATE",
      text: renew,
      values: [recordKey, token, leaseEndsAt, expiresAt ?? null],
    }),

    writeStep: ({
      recordKey,
      token,
      name,
      step,
      result,
      seen,
      isFirst,
    }: StepChange<unknown>): SqlStatement => {
      const [text, lostBytes] = resultValues({ result }, room.result);
      const isApart = text !== null && text.length > MAX_STEP_CHARACTERS;
      const apart = isApart ? stepResultKey(name, step) : null;
      const entry = { ...step, result: isApart ? undefined : (text ?? undefined), apart, lostBytes };
      const without = text === null ? null : { ...step, lostBytes: Buffer.byteLength(text) };
      const added =
        text === null ? null : bytesInJson(apart === null ? { [name]: entry } : { [apart]: text });
      const isListed = isTracked({ steps: { step } });
      const was = [seen?.state ?? null, seen?.attempt ?? null, seen?.at ?? null];
      const texts = [name, JSON.stringify(entry), without && JSON.stringify(without)];
      const change = [...texts, added, apart, apart && text, isListed, isFirst];
      return { action: "UPDATE", text: writeStep, values: [recordKey, token, ...change, ...was] };
    },

    find: (recordKey: string): SqlStatement => ({ action: "SELECT", text: find, values: [recordKey] }),

    loadResult: (recordKey: string, token: string): SqlStatement => ({
      action: "SELECT",
      text: loadResult,
      values: [recordKey, token],
    }),

    loadStepResult: (recordKey: string, key: string): SqlStatement => ({
      action: "SELECT",
      text: loadStepResult,
      values: [recordKey, key],
    }),

    /** A page of those that come behind `since` and `recordKey`. */
    unsettled: (before: number, since: number, recordKey: string, limit: number): SqlStatement => ({
      action: "SELECT",
      text: unsettled,
      values: [before, since, recordKey, limit],
    }),

    reap: (batchSize: number): SqlStatement => ({ action: "DELETE", text: reap, values: [batchSize] }),

    isSame: (recordKey: string, token: string, began: string): SqlStatement => ({
      action: "SELECT",
      text: isSame,
      values: [recordKey, token, began],
    }),
  };
}

function beginningValues(
  beginning: Beginning,
  state: State,
  room: Room,
  seen: IdempotencyRecord | undefined,
): SqlValue[] {
  const { recordKey, token, attempt, fingerprint, createdAt } = beginning;
  const end = "now" in beginning ? beginning : undefined;
  const leaseEndsAt = "now" in beginning ? beginning.now : beginning.leaseEndsAt;
  const waiting = waitingValues({ messages: [], now: 0, ...beginning }, room);
  const [result, lostBytes] = end
    ? resultValues(end, roomForResult(room, waiting.bytes, beginning.keepsSteps ? seen : undefined))
    : [null, null];
  const { expiresAt, columns } = waiting;
  return [
    recordKey,
    RECORD_VERSION,
    state,
    token,
    attempt,
    leaseEndsAt,
    fingerprint,
    createdAt,
    end?.now ?? null,
    expiresAt,
    result,
    lostBytes,
    ...columns,
    end?.evidence ?? null,
  ];
}

/** What waits to be sent, and since when. Its record does not expire before. */
function waitingValues(
  {
    messages,
    now,
    expiresAt = null,
  }: Pick<Effects, "messages"> & Pick<Settlement, "now"> & { readonly expiresAt?: SqlValue | undefined },
  room: Room,
) {
  const [first] = messages;
  if (!first) return { expiresAt, columns: [null, null, null, null], bytes: 0 };
  const { text, bytes } = storedMessages(messages, room);
  return { expiresAt: null, columns: [text, shardOf(first), now, expiresAt], bytes };
}

/** Messages that are kept in order are found in the order of their commits. */
function shardOf({ group, key }: StoredMessage): number {
  return hashTuple(group ?? key).charCodeAt(0) % OUTBOX_SHARDS;
}

/** Names each write of a step: what lies there never changes. */
function stepResultKey(name: string, { attempt, at }: StepChange["step"]): string {
  return `${attempt}/${at}/${name}`;
}

function resultValues(
  { result }: { readonly result?: string | undefined },
  most: number,
): [text: string | null, lostBytes: number | null] {
  if (result === undefined) return [null, null];
  const bytes = Buffer.byteLength(result);
  return bytes <= most ? [result, null] : [null, bytes];
}
