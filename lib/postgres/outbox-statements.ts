/** The SQL of each outbox operation, for one table. No I/O. */
import { RECORD_VERSION, RECORD_VERSIONS } from "../contract.ts";
import type { SweepLease, Taking } from "../core/messages/outbox.ts";
import type { SqlDialect } from "./dialect.ts";
import { quoted } from "./options.ts";
import { type Placeholders, type SqlStatement, statement } from "./statement.ts";
import type { WaitingRow } from "./waiting-row.ts";

/** No record has this key: record keys begin with an operation. */
const NOTES_KEY = "#outbox";
const SWEEP_KEY = `${NOTES_KEY}/sweep`;

/** How many commits are found at once. */
export const PAGE = 100;

/** A commit, read from its row. */
const waiting = (
  row: string,
) => `json_strip_nulls(json_build_object('recordKey', ${row}.pk, 'version', ${row}.version,
  'token', ${row}.token, 'committedAt', ${row}.settled_at, 'messages', ${row}.messages, 'progress', ${row}.progress,
  'shard', ${row}.unsent_shard, 'dueAt', ${row}.due_at, 'sendingUntil', ${row}.sending_until, 'sender', ${row}.sender,
  'evidence', ${row}.evidence))`;

const CHANGED = "RETURNING '{\"isChanged\":true}' AS answer";

/** The sender, as the row stores it. */
export function senderOf({ by, id }: Pick<Taking, "by" | "id">): string {
  return `${by}/${id}`;
}

interface Keeping {
  readonly dueAt: number;
  readonly waits: boolean;
  readonly isOwn: boolean;
}

/** An operator's action. */
interface Acting {
  /** The record's evidence, including this action. */
  readonly evidence: string;
  /** Given if some of them go to another destination. */
  readonly messages: string | null;
}

/** The state in which a commit was seen, and the progress to store. */
const SEEN = ["pk", "token", "progress", "seenProgress", "seenSendingUntil"] as const;

const asSeen = ({ recordKey, token, progressText, sendingUntil }: WaitingRow, progress: string) => ({
  pk: recordKey,
  token,
  progress,
  seenProgress: progressText ?? null,
  seenSendingUntil: sendingUntil ?? null,
});

/** Neither its progress nor its sender has changed since it was seen. */
const isAsSeen = (p: Placeholders<"seenProgress" | "seenSendingUntil">) =>
  `progress IS NOT DISTINCT FROM ${p.seenProgress} AND sending_until IS NOT DISTINCT FROM ${p.seenSendingUntil}`;

export type OutboxStatements = ReturnType<typeof outboxStatements>;

export function outboxStatements(table: string, dialect?: SqlDialect) {
  const name = quoted(table);

  const load = statement(
    "SELECT",
    ["pk"],
    (p) => `SELECT json_build_object('commit', ${waiting("r")})::text AS answer
FROM ${name} AS r WHERE r.pk = ${p.pk} AND r.due_at IS NOT NULL`,
  );

  const take = statement("UPDATE", ["pk", "now", "dueAt", "until", "sender"], (p) => {
    const free = `pk = ${p.pk} AND due_at <= ${p.now} AND version IN (${RECORD_VERSIONS}) AND unsent_shard >= 0
    AND (${p.dueAt}::double precision IS NULL OR due_at = ${p.dueAt}) AND (sending_until IS NULL OR sending_until <= ${p.now} OR sender = ${p.sender}
      OR (sender LIKE 'relay/%' AND ${p.sender} LIKE 'relay/%'))`;
    const taking = `UPDATE ${name} AS r SET sending_until = ${p.until}, sender = ${p.sender}`;
    // DSQL has no lock to skip, and doesn't document changes within WITH: a sender that doesn't get the commit loads it.
    if (dialect === "dsql") {
      return `${taking} WHERE ${free} RETURNING json_build_object('isChanged', true, 'commit', ${waiting("r")})::text AS answer`;
    }
    // A sender that finds the row locked doesn't wait: another one is about to take the row, or to store its progress.
    return `WITH free AS (
  SELECT pk FROM ${name} WHERE ${free} FOR UPDATE SKIP LOCKED
), taken AS (
  ${taking} FROM free WHERE r.pk = free.pk RETURNING ${waiting("r")} AS answer
)
SELECT json_build_object('isChanged', taken.answer IS NOT NULL, 'commit', coalesce(taken.answer, ${waiting("r")}))::text AS answer
FROM ${name} AS r LEFT JOIN taken ON true WHERE r.pk = ${p.pk} AND r.due_at IS NOT NULL`;
  });

  // An operator's action only applies if the evidence is unchanged too. Senders don't check it.
  const keep = statement(
    "UPDATE",
    [...SEEN, "dueAt", "waits", "isOwn", "messages", "evidence", "seenEvidence"] as const,
    (
      p,
    ) => `UPDATE ${name} SET progress = ${p.progress}, due_at = ${p.dueAt}, messages = coalesce(${p.messages}, messages),
  evidence = coalesce(${p.evidence}, evidence), unsent_shard = CASE WHEN ${p.waits}::boolean = (unsent_shard >= 0)
    THEN unsent_shard ELSE -1 - unsent_shard END,
  sending_until = CASE WHEN ${p.isOwn}::boolean THEN NULL ELSE sending_until END,
  sender = CASE WHEN ${p.isOwn}::boolean THEN NULL ELSE sender END
WHERE pk = ${p.pk} AND token = ${p.token} AND due_at IS NOT NULL AND ${isAsSeen(p)}
  AND (${p.evidence}::text IS NULL OR evidence IS NOT DISTINCT FROM ${p.seenEvidence}) ${CHANGED}`,
  );

  const mark = (p: Placeholders<"pk" | "token" | "progress">, evidence = "") =>
    `UPDATE ${name} SET ${evidence}expires_at = expires_once_sent, progress = ${p.progress}, messages = NULL, unsent_shard = NULL,
  due_at = NULL, expires_once_sent = NULL, sending_until = NULL, sender = NULL
WHERE pk = ${p.pk} AND token = ${p.token} AND due_at IS NOT NULL`;

  const markSent = statement("UPDATE", ["pk", "token", "progress"], (p) => `${mark(p)} ${CHANGED}`);

  const finish = statement(
    "UPDATE",
    [...SEEN, "evidence", "seenEvidence"] as const,
    (p) =>
      `${mark(p, `evidence = ${p.evidence}, `)} AND ${isAsSeen(p)} AND evidence IS NOT DISTINCT FROM ${p.seenEvidence} ${CHANGED}`,
  );

  const park = statement(
    "UPDATE",
    ["pk", "now"],
    (
      p,
    ) => `UPDATE ${name} SET unsent_shard = -1 - unsent_shard, due_at = ${p.now}, sending_until = NULL, sender = NULL
WHERE pk = ${p.pk} AND due_at IS NOT NULL AND unsent_shard >= 0 AND version IN (${RECORD_VERSIONS}) ${CHANGED}`,
  );

  const find = statement(
    "SELECT",
    ["shard", "before", "dueAt", "pk"],
    (p) => `SELECT json_build_object('recordKey', pk, 'dueAt', due_at)::text AS answer FROM ${name}
WHERE unsent_shard = ${p.shard} AND due_at IS NOT NULL AND due_at < ${p.before} AND (due_at, pk) > (${p.dueAt}, ${p.pk}) ORDER BY due_at, pk LIMIT ${PAGE}`,
  );

  const count = statement(
    "SELECT",
    [],
    () => `SELECT json_build_object('waiting', count(*) FILTER (WHERE unsent_shard >= 0),
  'parked', count(*) FILTER (WHERE unsent_shard < 0))::text AS answer FROM ${name} WHERE due_at IS NOT NULL`,
  );

  const leaseSweep = statement(
    "UPDATE",
    ["sender", "now", "until"],
    (
      p,
    ) => `INSERT INTO ${name} AS r (pk, version, state, token, attempt, lease_ends_at, fingerprint, created_at, sender, sending_until)
VALUES ('${SWEEP_KEY}', ${RECORD_VERSION}, 'notes', '', 0, 0, '', 0, ${p.sender}, ${p.until})
ON CONFLICT (pk) DO UPDATE SET sender = ${p.sender}, sending_until = ${p.until}
WHERE r.sending_until <= ${p.now} OR r.sender = ${p.sender} ${CHANGED}`,
  );

  // A row of the same table, so that a sender needs no permission on another one.
  const insertNotes = statement(
    "UPDATE",
    ["notes"],
    (
      p,
    ) => `INSERT INTO ${name} (pk, version, state, token, attempt, lease_ends_at, fingerprint, created_at, result)
VALUES ('${NOTES_KEY}', ${RECORD_VERSION}, 'notes', '', 0, 0, '', 0, ${p.notes}) ON CONFLICT (pk) DO NOTHING ${CHANGED}`,
  );

  const replaceNotes = statement(
    "UPDATE",
    ["notes", "previous"],
    (p) =>
      `UPDATE ${name} SET result = ${p.notes} WHERE pk = '${NOTES_KEY}' AND result = ${p.previous} ${CHANGED}`,
  );

  const readNotes = statement(
    "SELECT",
    [],
    () => `SELECT result AS answer FROM ${name} WHERE pk = '${NOTES_KEY}'`,
  );

  return {
    load: (pk: string) => load({ pk }),

    take: (
      pk: string,
      { now, dueAt = null, until, ...sender }: Omit<Taking, "dueAt"> & { dueAt?: number | null },
    ) => take({ pk, now, dueAt, until, sender: senderOf(sender) }),

    /** @param isOwn whether the sender that saw the commit had taken it: it is then released */
    keep: (seen: WaitingRow, progress: string, keeping: Keeping, act?: Acting): SqlStatement =>
      keep({
        ...asSeen(seen, progress),
        ...keeping,
        messages: act?.messages ?? null,
        evidence: act?.evidence ?? null,
        seenEvidence: seen.evidence ?? null,
      }),

    /** Marks a commit that hasn't changed since it was seen. */
    finish: (seen: WaitingRow, progress: string, { evidence }: Acting): SqlStatement =>
      finish({ ...asSeen(seen, progress), evidence, seenEvidence: seen.evidence ?? null }),

    markSent: (pk: string, token: string, progress: string | null) => markSent({ pk, token, progress }),

    park: (pk: string, now: number) => park({ pk, now }),

    /** A page of the commits that come after `dueAt` and `pk`. */
    find: (shard: number, before: number, dueAt: number, pk: string) => find({ shard, before, dueAt, pk }),

    leaseSweep: ({ id, now, until }: SweepLease) =>
      leaseSweep({ sender: senderOf({ by: "sweeper", id }), now, until }),

    count: () => count({}),

    readNotes: () => readNotes({}),

    replaceNotes: (previous: string | undefined, notes: string) =>
      previous === undefined ? insertNotes({ notes }) : replaceNotes({ notes, previous }),
  };
}
