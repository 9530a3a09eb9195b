/** The SQL of each move of the outbox, for one table. No I/O. */
import { RECORD_VERSION, RECORD_VERSIONS } from "../contract.ts";
import type { SweepLease, Taking } from "../core/messages/outbox.ts";
import type { SqlDialect } from "./dialect.ts";
import { quoted } from "./options.ts";
import type { SqlValue } from "./sql-client.ts";
import type { SqlStatement } from "./statements.ts";
import type { WaitingRow } from "./waiting-row.ts";

/** No record has this key: theirs begin with an operation. */
const NOTES_KEY = "#outbox";
const SWEEP_KEY = `${NOTES_KEY}/sweep`;

/** How many commits are found at once. */
export const PAGE = 100;

/** A commit as its row tells it. */
const waiting = (
  row: string,
) => `json_strip_nulls(json_build_object('recordKey', ${row}.pk, 'version', ${row}.version,
  'token', ${row}.token, 'committedAt', ${row}.settled_at, 'messages', ${row}.messages, 'progress', ${row}.progress,
  'shard', ${row}.unsent_shard, 'dueAt', ${row}.due_at, 'sendingUntil', ${row}.sending_until, 'sender', ${row}.sender,
  'evidence', ${row}.evidence))`;

const CHANGED = "RETURNING '{\"isChanged\":true}' AS answer";

/** As it stands in the row. */
export function senderOf({ by, id }: Pick<Taking, "by" | "id">): string {
  return `${by}/${id}`;
}

interface Keeping {
  readonly dueAt: number;
  readonly waits: boolean;
  readonly isOwn: boolean;
}

/** What an operator does. */
interface Acting {
  /** The record's evidence, with the act. */
  readonly evidence: string;
  /** Where some of them go elsewhere. */
  readonly messages: string | null;
}

const asSeen = (
  { recordKey, token, progressText, sendingUntil }: WaitingRow,
  progress: string,
): readonly SqlValue[] => [recordKey, token, progress, progressText ?? null, sendingUntil ?? null];

/** An operator's act holds only while the evidence too is as it was seen. Senders do not look at it. */
const acted = (seen: WaitingRow, act: Acting | undefined): readonly SqlValue[] => [
  act?.evidence ?? null,
  seen.evidence ?? null,
];

export type OutboxStatements = ReturnType<typeof outboxStatements>;

export function outboxStatements(table: string, dialect?: SqlDialect) {
  const name = quoted(table);
  const update = (text: string, ...values: SqlValue[]): SqlStatement => ({ action: "UPDATE", text, values });
  const select = (text: string, ...values: SqlValue[]): SqlStatement => ({ action: "SELECT", text, values });

  const load = `SELECT json_build_object('commit', ${waiting("r")})::text AS answer
FROM ${name} AS r WHERE r.pk = $1 AND r.due_at IS NOT NULL`;

  const free = `pk = $1 AND due_at <= $2 AND version IN (${RECORD_VERSIONS}) AND unsent_shard >= 0
    AND ($3::double precision IS NULL OR due_at = $3) AND (sending_until IS NULL OR sending_until <= $2 OR sender = $5
      OR (sender LIKE 'relay/%' AND $5 LIKE 'relay/%'))`;
  const taking = `UPDATE ${name} AS r SET sending_until = $4, sender = $5`;
  // A sender that finds the row locked does not wait: another one is about to take the row, or to keep what was sent.
  const takeOrRead = `WITH free AS (
  SELECT pk FROM ${name} WHERE ${free} FOR UPDATE SKIP LOCKED
), taken AS (
  ${taking} FROM free WHERE r.pk = free.pk RETURNING ${waiting("r")} AS told
)
SELECT json_build_object('isChanged', taken.told IS NOT NULL, 'commit', coalesce(taken.told, ${waiting("r")}))::text AS answer
FROM ${name} AS r LEFT JOIN taken ON true WHERE r.pk = $1 AND r.due_at IS NOT NULL`;
  // DSQL has no lock to skip, and documents no change within WITH: who does not get the commit loads it.
  const take =
    dialect === "dsql"
      ? `${taking} WHERE ${free} RETURNING json_build_object('isChanged', true, 'commit', ${waiting("r")})::text AS answer`
      : takeOrRead;

  // Neither its progress nor who has taken it has changed since it was seen, nor under an operator's act its evidence.
  const AS_SEEN = "progress IS NOT DISTINCT FROM $4 AND sending_until IS NOT DISTINCT FROM $5";
  const keep = `UPDATE ${name} SET progress = $3, due_at = $6, messages = coalesce($9, messages),
  evidence = coalesce($10, evidence), unsent_shard = CASE WHEN $7::boolean = (unsent_shard >= 0)
    THEN unsent_shard ELSE -1 - unsent_shard END,
  sending_until = CASE WHEN $8::boolean THEN NULL ELSE sending_until END,
  sender = CASE WHEN $8::boolean THEN NULL ELSE sender END
WHERE pk = $1 AND token = $2 AND due_at IS NOT NULL AND ${AS_SEEN}
  AND ($10::text IS NULL OR evidence IS NOT DISTINCT FROM $11) ${CHANGED}`;

  const mark = (
    evidence: string,
  ) => `UPDATE ${name} SET ${evidence}expires_at = expires_once_sent, progress = $3, messages = NULL, unsent_shard = NULL,
  due_at = NULL, expires_once_sent = NULL, sending_until = NULL, sender = NULL
WHERE pk = $1 AND token = $2 AND due_at IS NOT NULL`;
  const markSent = `${mark("")} ${CHANGED}`;
  const finish = `${mark("evidence = $6, ")} AND ${AS_SEEN} AND evidence IS NOT DISTINCT FROM $7 ${CHANGED}`;

  const park = `UPDATE ${name} SET unsent_shard = -1 - unsent_shard, due_at = $2, sending_until = NULL, sender = NULL
WHERE pk = $1 AND due_at IS NOT NULL AND unsent_shard >= 0 AND version IN (${RECORD_VERSIONS}) ${CHANGED}`;

  const find = `SELECT json_build_object('recordKey', pk, 'dueAt', due_at)::text AS answer FROM ${name}
WHERE unsent_shard = $1 AND due_at IS NOT NULL AND due_at < $2 AND (due_at, pk) > ($3, $4) ORDER BY due_at, pk LIMIT ${PAGE}`;

  const count = `SELECT json_build_object('waiting', count(*) FILTER (WHERE unsent_shard >= 0),
  'parked', count(*) FILTER (WHERE unsent_shard < 0))::text AS answer FROM ${name} WHERE due_at IS NOT NULL`;

  const leaseSweep = `INSERT INTO ${name} AS r (pk, version, state, token, attempt, lease_ends_at, fingerprint, created_at, sender, sending_until)
VALUES ('${SWEEP_KEY}', ${RECORD_VERSION}, 'notes', '', 0, 0, '', 0, $1, $3)
ON CONFLICT (pk) DO UPDATE SET sender = $1, sending_until = $3
WHERE r.sending_until <= $2 OR r.sender = $1 ${CHANGED}`;

  // A row of the same table: who may send needs no right on another one.
  const insertNotes = `INSERT INTO ${name} (pk, version, state, token, attempt, lease_ends_at, fingerprint, created_at, result)
VALUES ('${NOTES_KEY}', ${RECORD_VERSION}, 'notes', '', 0, 0, '', 0, $1) ON CONFLICT (pk) DO NOTHING ${CHANGED}`;
  const replaceNotes = `UPDATE ${name} SET result = $1 WHERE pk = '${NOTES_KEY}' AND result = $2 ${CHANGED}`;
  const readNotes = `SELECT result AS answer FROM ${name} WHERE pk = '${NOTES_KEY}'`;

  return {
    load: (recordKey: string) => select(load, recordKey),

    take: (
      recordKey: string,
      { now, dueAt = null, until, ...sender }: Omit<Taking, "dueAt"> & { dueAt?: number | null },
    ) => update(take, recordKey, now, dueAt, until, senderOf(sender)),

    /**
     * @param isOwn whether whoever saw the commit had taken it: it is given back
     */
    keep: (seen: WaitingRow, progress: string, { dueAt, waits, isOwn }: Keeping, act?: Acting) =>
      update(
        keep,
        ...asSeen(seen, progress),
        ...[dueAt, waits, isOwn, act?.messages ?? null],
        ...acted(seen, act),
      ),

    /** Marks what nobody has changed since it was seen. */
    finish: (seen: WaitingRow, progress: string, act: Acting) =>
      update(finish, ...asSeen(seen, progress), ...acted(seen, act)),

    markSent: (recordKey: string, token: string, progress: string | null) =>
      update(markSent, recordKey, token, progress),

    park: (recordKey: string, now: number) => update(park, recordKey, now),

    /** A page of those that come behind `dueAt` and `recordKey`. */
    find: (shard: number, before: number, dueAt: number, recordKey: string) =>
      select(find, shard, before, dueAt, recordKey),

    leaseSweep: ({ id, now, until }: SweepLease) =>
      update(leaseSweep, senderOf({ by: "sweeper", id }), now, until),

    count: () => select(count),

    readNotes: () => select(readNotes),

    replaceNotes: (former: string | undefined, notes: string) =>
      former === undefined ? update(insertNotes, notes) : update(replaceNotes, notes, former),
  };
}
