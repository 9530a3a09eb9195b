// The rights on an idempotency table that a handler needs, by the options that it runs with. No I/O.
import { OUTBOX_ATTRIBUTES } from "../contract.ts";
import { wrongTime } from "./dates.ts";
import { type Conditions, IN_TRANSACTIONS, leadingKeyConditions } from "./leading-keys.ts";
import { withDefaults } from "./with-defaults.ts";

/**
 * The rights of a handler on an idempotency table: describe the handler's options, and nothing more is
 * granted.
 */
export interface RecordAccessOptions {
  /**
   * The operations that the handler runs: the grant reaches only their records, by the leading part of their
   * keys. Without operations a warning at synthesis says what the grant reaches:
   * `onceonly:operations-unfenced`.
   * @default - every operation of the table
   */
  readonly operations?: string[];

  /**
   * The key of a session tag with the scope as its value: a session reaches only its own scope's records. It
   * is for roles that are assumed per tenant, with that tag. IAM refuses everything to a session with an
   * empty tag, and to a function that serves all tenants and so has no tag.
   *
   * Requires `operations`, and excludes `commits` on a table with an outbox: the relay sends what a session
   * writes there.
   * @default - every scope
   */
  readonly scopeTag?: string;

  /**
   * Whether results may exceed about 4 KB, compressed and together with their commit's messages. Such results
   * are items of their own, which replays read (`GetItem`).
   * @default true
   */
  readonly largeResults?: boolean;

  /**
   * Whether calls wait for the one in progress (`GetItem`), as HTTP requests do unless `whenInProgress` is `"reject"`.
   * Without the grant they are refused at once.
   * @default true
   */
  readonly waiting?: boolean;

  /**
   * Whether calls look before they run (`GetItem`): in the optimistic mode, by `lookFirst`, and for UUIDv7
   * keys that are older than the retention. Without the grant both are refused with `STORE_UNAVAILABLE`.
   * @default false
   */
  readonly lookFirst?: boolean;

  /**
   * Whether the handler commits writes or messages together with its record: a claim that meets such a commit
   * reads the record (`GetItem`).
   *
   * Without this option, and on a table without an outbox, the grant leaves out the attributes from which the
   * relay reads messages. Otherwise the role could send any message with the relay's rights, or commit
   * messages that nobody sends.
   * @default false
   */
  readonly commits?: boolean;

  /**
   * Whether records of a batch share requests (`groups` of `idempotentBatch`): `PartiQLInsert`,
   * `PartiQLUpdate` and `BatchGetItem`, under the same fences as the other actions. Without this option each
   * record has its own requests.
   * @default false
   */
  readonly batches?: boolean;

  /**
   * The time until which IAM refuses everything. It is only for tables that were restored into the past; `UseIdempotency` computes
   * it.
   * @default - nothing is refused
   */
  readonly closedUntil?: Date;
}

/** What `UseIdempotency` computes at synthesis only, since event sources may be added until then. */
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

/** A first claim puts the record, all other steps update it: nothing deletes, queries or scans. */
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
 * A statement never writes messages, whatever the handler commits. AWS does not document which condition keys
 * a PartiQL request has, so a request without the keys is refused. Each of its records is then requested
 * alone.
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
 * A role that may only write its own records must not plant messages that the relay sends with its own
 * rights. Without a relay, a commit with messages is refused instead of being kept for nobody.
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
    `closedUntil is ${wrong}: give the time as a Date, such as new Date("2026-01-31T12:00:00Z")`,
  );
}

/**
 * Relay and sweeper read and mark. Messages that did not fit into the record are items of their own: they are
 * read, and then deleted in one transaction with the mark.
 */
export const SENDING_RIGHTS: readonly Right[] = [
  { actions: ["dynamodb:GetItem", "dynamodb:UpdateItem"], conditions: {} },
  { actions: ["dynamodb:DeleteItem"], conditions: IN_TRANSACTIONS },
];
