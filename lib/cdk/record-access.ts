// The rights on an idempotency table that a handler needs, by the options that it runs with. No I/O.
import { Token } from "aws-cdk-lib";
import { OUTBOX_ATTRIBUTES } from "../contract.ts";
import { type Conditions, IN_TRANSACTIONS, leadingKeyConditions } from "./leading-keys.ts";
import { withDefaults } from "./with-defaults.ts";

/** Which rights on an idempotency table a handler gets: say what its options are, and nothing more is granted. */
export interface RecordAccessOptions {
  /**
   * The operations it runs: it reaches their records only, by the leading part of their keys. Left out, a warning says at
   * synthesis what it reaches: `onceonly:operations-unfenced`.
   *
   * @default - every operation of the table
   */
  readonly operations?: string[];

  /**
   * The key of a session tag whose value is the scope: a session reaches its own scope's records only. For roles that are
   * assumed per tenant, with that tag; a function that serves all tenants has no such tag, and is refused everything, and so
   * is a session whose tag is empty.
   * Takes `operations`, and no `commits` on a table with an outbox: the relay sends what a session writes there.
   *
   * @default - every scope
   */
  readonly scopeTag?: string;

  /**
   * Whether results may take more than about 4 KB, compressed and together with the messages of their commit: they are items
   * of their own, which replays read (`GetItem`).
   *
   * @default true
   */
  readonly largeResults?: boolean;

  /**
   * Whether calls wait for the one in progress, by `whenInProgress: { waitSeconds }` (`GetItem`).
   *
   * @default false
   */
  readonly waiting?: boolean;

  /**
   * Whether calls look before they run: in the optimistic mode, by `lookFirst`, and for UUIDv7 keys that are older than the retention
   * (`GetItem`). Where nothing grants it, both are refused with `STORE_UNAVAILABLE`.
   *
   * @default false
   */
  readonly lookFirst?: boolean;

  /**
   * Whether the handler commits writes or messages together with its record: a claim that meets such a commit reads the
   * record (`GetItem`). Without it, and on a table without an outbox, the grant leaves out the attributes from which the relay
   * reads what to send: otherwise whoever has the role could have anything sent, with the relay's rights, or commit what
   * nobody sends.
   *
   * @default false
   */
  readonly commits?: boolean;

  /**
   * Whether records of a batch ask together (`groups` of `idempotentBatch`): `PartiQLInsert`, `PartiQLUpdate` and
   * `BatchGetItem`, under the same fences as all else. Without it each record asks alone, which costs requests only.
   *
   * @default false
   */
  readonly batches?: boolean;

  /**
   * Until when (ISO 8601) IAM refuses everything. For tables that were restored into the past, and only for these;
   * `UseIdempotency` computes it.
   *
   * @default - nothing is refused
   */
  readonly closedUntil?: string;
}

export const ACCESS_DEFAULTS = {
  largeResults: true,
  waiting: false,
  lookFirst: false,
  commits: false,
  batches: false,
} as const;

export interface Right {
  readonly actions: readonly string[];
  readonly conditions: Conditions;
}

/** A first claim puts the record, all else updates it: nothing deletes, queries or scans. */
export function rightsOf(options: RecordAccessOptions, hasOutbox: boolean): readonly Right[] {
  const { largeResults, waiting, lookFirst, commits, batches } = withDefaults(options, ACCESS_DEFAULTS);
  const conditions: Conditions = {
    ...leadingKeyConditions(options.operations, options.scopeTag),
    ...(options.closedUntil !== undefined && notBefore(options.closedUntil)),
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
 * A statement never writes messages, whatever the handler commits. AWS does not say for PartiQL which keys of conditions a
 * request has, so that one that lacks them is refused: its records are then asked for one by one.
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
 * A role that may only write its own records must not plant in them what the relay sends with its rights; and where there is no
 * relay, a commit with messages is refused, and not kept for nobody.
 */
const NO_MESSAGES: Conditions = {
  "ForAllValues:StringNotEquals": { "dynamodb:Attributes": OUTBOX_ATTRIBUTES },
};

/** What IAM cannot read it refuses at deployment, and the whole policy with it. */
function notBefore(time: string): Conditions {
  if (
    !Token.isUnresolved(time) &&
    !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(time)
  ) {
    throw new Error(
      `closedUntil is ${JSON.stringify(time)}, which is no point in time: give one in ISO 8601, with its zone, such as "2026-01-31T12:00:00Z"`,
    );
  }
  return { DateGreaterThanEquals: { "aws:CurrentTime": time } };
}

/**
 * Relay and sweeper read and mark. Messages that did not fit into the record are items of their own, loaded, and then
 * deleted in one transaction with the mark.
 */
export const SENDING_RIGHTS: readonly Right[] = [
  { actions: ["dynamodb:GetItem", "dynamodb:UpdateItem"], conditions: {} },
  { actions: ["dynamodb:DeleteItem"], conditions: IN_TRANSACTIONS },
];
