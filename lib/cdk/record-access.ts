// The permissions on an idempotency table that a handler needs for its options. No I/O.
import { OUTBOX_ATTRIBUTES } from "../contract.ts";
import { wrongTime } from "./dates.ts";
import { type Conditions, IN_TRANSACTIONS, leadingKeyConditions } from "./leading-keys.ts";
import { withDefaults } from "./with-defaults.ts";

/**
 * What a handler may do with an idempotency table. Describe the handler's options here, and it gets only the permissions
 * that they need.
 */
export interface RecordAccessOptions {
  /**
   * The operations that the handler runs. The grant covers only their records, by the leading part of their keys. If you
   * leave it out, the grant covers every record, and synthesis warns with `onceonly:operations-unfenced`.
   * @default - every operation of the table
   */
  readonly operations?: string[];

  /**
   * The key of a session tag whose value is the scope, so that a session can access only its own scope's records. Use it
   * for roles that are assumed per tenant with that tag. IAM denies everything to a session with an empty tag, and to a
   * function that serves all tenants and so has no tag.
   *
   * Requires `operations`. Can't be combined with `commits` on a table with an outbox, because the relay sends any message
   * that a session writes there.
   * @default - every scope
   */
  readonly scopeTag?: string;

  /**
   * Whether results can exceed about 4 KB, compressed and together with their commit's messages. Such results are stored
   * as separate items, which replays read (`GetItem`).
   * @default true
   */
  readonly largeResults?: boolean;

  /**
   * Whether calls wait for the one in progress (`GetItem`), as HTTP requests do unless `whenInProgress` is `"reject"`.
   * Without the permission they are refused immediately.
   * @default true
   */
  readonly waiting?: boolean;

  /**
   * Whether calls read the record before they run (`GetItem`): in the optimistic mode, with `lookFirst`, and for UUIDv7
   * keys that are older than the retention. Without the permission such calls fail with `STORE_UNAVAILABLE`.
   * @default false
   */
  readonly lookFirst?: boolean;

  /**
   * Whether the handler commits writes or messages together with its record. A claim that conflicts with such a commit
   * reads the record (`GetItem`).
   *
   * Without this option, or on a table without an outbox, the grant excludes the attributes that the relay reads messages
   * from. Otherwise the role could send any message with the relay's permissions, or commit messages that are never sent.
   * @default false
   */
  readonly commits?: boolean;

  /**
   * Whether records of a batch share requests (`groupRequests` of `idempotentBatch`). Grants `PartiQLInsert`,
   * `PartiQLUpdate` and `BatchGetItem`, with the same conditions as the other actions. Without this option each record
   * has its own requests.
   * @default false
   */
  readonly batches?: boolean;

  /**
   * IAM denies everything until this time. Use it only for a table that was restored from a backup; `UseIdempotency`
   * computes it.
   * @default - nothing is refused
   */
  readonly closedUntil?: Date;
}

/** `UseIdempotency` computes it at synthesis, because event sources may be added until then. */
export const CLOSED_UNTIL = Symbol.for("onceonly.closedUntil");

export interface ComputedAccess extends RecordAccessOptions {
  /** In ISO 8601. */
  readonly [CLOSED_UNTIL]?: string;
}

export const ACCESS_DEFAULTS = {
  largeResults: true,
  waiting: true,
  lookFirst: false,
  commits: false,
  batches: false,
} as const;

export interface Right {
  readonly actions: readonly string[];
  readonly conditions: Conditions;
}

/** The first claim puts the record and all other steps update it: handlers never delete, query or scan. */
export function rightsOf(options: ComputedAccess, hasOutbox: boolean): readonly Right[] {
  const { largeResults, waiting, lookFirst, commits, batches } = withDefaults(options, ACCESS_DEFAULTS);
  const conditions: Conditions = {
    ...leadingKeyConditions(options.operations, options.scopeTag),
    ...notBefore(closingTime(options)),
  };
  const reading = ["dynamodb:GetItem"];
  const writing = ["dynamodb:PutItem", "dynamodb:UpdateItem"];
  const together = batches ? groupRights(conditions) : [];
  if (commits && hasOutbox) return [{ actions: [...reading, ...writing], conditions }, ...together];
  return [
    ...(largeResults || waiting || lookFirst || commits ? [{ actions: reading, conditions }] : []),
    { actions: writing, conditions: { ...conditions, ...NO_MESSAGES } },
    ...together,
  ];
}

/**
 * A PartiQL statement never writes messages, whatever the handler commits. AWS doesn't document which condition keys a
 * PartiQL request has, so a request without them is denied, and each of its records is then requested separately.
 */
function groupRights(conditions: Conditions): readonly Right[] {
  const known = { ...conditions.Null, "dynamodb:Attributes": "false" };
  return [
    { actions: ["dynamodb:BatchGetItem"], conditions },
    {
      actions: ["dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate"],
      conditions: { ...conditions, ...NO_MESSAGES, Null: known },
    },
  ];
}

/**
 * A role that may only write its own records must not plant messages that the relay would send with the relay's
 * permissions. Without a relay, a commit with messages is denied, because they would never be sent.
 */
const NO_MESSAGES: Conditions = {
  "ForAllValues:StringNotEquals": { "dynamodb:Attributes": OUTBOX_ATTRIBUTES },
};

const notBefore = (time: string | undefined): Conditions =>
  time === undefined ? {} : { DateGreaterThanEquals: { "aws:CurrentTime": time } };

/** @throws Error for a value that can't be the time of a table */
export function closingTime({ closedUntil, [CLOSED_UNTIL]: computed }: ComputedAccess): string | undefined {
  if (closedUntil === undefined) return computed;
  const wrong = wrongTime(closedUntil);
  if (wrong === undefined) return closedUntil.toISOString();
  throw new Error(
    `closedUntil is ${wrong}: pass the time as a Date, such as new Date("2026-01-31T12:00:00Z")`,
  );
}

/**
 * Relay and sweeper read records and mark them as sent. Messages that didn't fit into the record are separate items, which
 * they read, and then delete in one transaction with the mark.
 */
export const SENDING_RIGHTS: readonly Right[] = [
  { actions: ["dynamodb:GetItem", "dynamodb:UpdateItem"], conditions: {} },
  { actions: ["dynamodb:DeleteItem"], conditions: IN_TRANSACTIONS },
];
