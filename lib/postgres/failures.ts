/**
 * Distinguishes refusals by PostgreSQL from temporary failures, and a refusal of the caller's own writes from a failure of the
 * store.
 */
import {
  CommitInvalidError,
  type StoreFailure,
  StoreUnavailableError,
  TransactionConditionError,
} from "../core/errors.ts";

/** By SQLSTATE; the first match wins. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const FAILURES: readonly (readonly [RegExp, StoreFailure])[] = [
  // Serialization failures, deadlocks, lock timeouts; OC000 and OC001 are Aurora DSQL's.
  [/^(40|OC|55P03)/, "conflict"],
  [/^53/, "throttled"],
  // Connections, shutdowns, cancelled statements, a transaction that idled or lasted too long, a server that is read-only now.
  [/^(08|57|58|XX|25P03|25P04|25006)/, "unreachable"],
  [/^/, "refused"],
];

/** Values that a column can't hold, and server limits. */
const CONTENT = /^(22|54)/;

/** Refusals defined in the database: constraints, RAISE in triggers and functions, views with a check. */
const CONDITION = /^(23|P0|44)/;

/** Stands for the error that the server didn't send when it answered COMMIT with ROLLBACK. */
export class AbortedTransactionError extends Error {
  override readonly name = "AbortedTransactionError";
  readonly code = "40000";
  readonly severity = "ERROR";

  constructor() {
    super("the server answered COMMIT with ROLLBACK, because a statement had failed");
  }
}

/** The error of the store's own statement for a database that isn't in UTF-8. */
const OTHER_ENCODING = /\b([A-Z]\w+) is not UTF8\b/;

/** What a code means, and what to do. */
const MEANINGS: readonly (readonly [RegExp, (table: string) => string])[] = [
  [
    /^(42P01|3F000)/,
    (table) =>
      `the table doesn't exist: run the SQL from postgresSchema({ table: "${table}" }), or add its schema to the name`,
  ],
  [
    /^(42703|42P10|42804|42883|22P02)/,
    (table) => `the table differs from postgresSchema({ table: "${table}" }): compare the columns and keys`,
  ],
  [
    /^42501/,
    (table) =>
      `the role of this client lacks a privilege on ${table}: it needs SELECT, INSERT and UPDATE, and DELETE to reap; on ${table}_step_results it needs SELECT, INSERT and DELETE`,
  ],
  [
    /^(22021|22P05)/,
    () =>
      "the database encoding lacks a character: create the database with ENCODING 'UTF8' TEMPLATE template0",
  ],
  [/^28/, () => "the server rejected the login: check user, password and pg_hba.conf"],
  [/^3D/, () => "the database doesn't exist"],
  [
    /^(26|42P05)/,
    () =>
      "the server doesn't have the prepared statement: with a pooler in transaction mode, turn prepared statements off (pass `prepare: false` to `fromPg`, and to postgres.js)",
  ],
  [/^25006/, () => "the server is read-only: a replica, or a primary after a failover"],
  [/^57014/, () => "the statement was cancelled, by statement_timeout or by an operator"],
  [/^25P03/, () => "the transaction had no statement for 10 seconds"],
  [/^25P04/, () => "the transaction lasted longer than the server's transaction_timeout"],
  [/^40|^OC/, () => "a serialization failure or deadlock"],
];

/**
 * The SQLSTATE of a server error, even if a library has wrapped it. Node's codes, such as EPIPE, come without a severity, and
 * Prisma calls the server's own code the original one.
 */
export function sqlStateOf(error: unknown): string | undefined {
  for (const each of wrapped(error)) {
    const { code, severity, originalCode = severity && code } = Object(each) as Record<string, unknown>;
    if (typeof originalCode === "string" && /^[0-9A-Z]{5}$/.test(originalCode)) return originalCode;
  }
  return undefined;
}

/** An error and its causes, outermost first. */
function* wrapped(error: unknown): Generator<object> {
  const seen = new Set<unknown>();
  for (let each = error; Object(each) === each && !seen.has(each); ) {
    seen.add(each);
    yield each as object;
    const { cause, meta } = each as { cause?: unknown; meta?: { driverAdapterError?: unknown } };
    each = cause ?? meta?.driverAdapterError;
  }
}

/**
 * Whether another connection may work: this one was lost, or the server ended it. A call that has already waited for a
 * connection or an answer for the client's whole timeout does not wait that long again.
 */
export function isLostConnection({ failure, cause }: StoreUnavailableError): boolean {
  const isOver = /\btimed? ?out\b/i.test(`${(Object(cause) as { message?: unknown }).message}`);
  return failure === "unreachable" && !isOver && /^(08|57P|$)/.test(sqlStateOf(cause) ?? "");
}

/** @param action the request to the table, for the message */
export function storeFailure(error: unknown, action: string, table: string): StoreUnavailableError {
  hideValues(error);
  const code = sqlStateOf(error);
  if (code === undefined) {
    const { name, code: own } = Object(error) as { name?: unknown; code?: unknown };
    return new StoreUnavailableError("unreachable", error, `${own ?? name ?? "an unknown error"}`, {
      action,
      table,
    });
  }
  const failure = FAILURES.find(([pattern]) => pattern.test(code))?.[1] as StoreFailure;
  const encoding = code === "22P02" ? otherEncoding(error) : undefined;
  const refusal = new StoreUnavailableError(failure, error, encoding ?? meant(code, table), {
    action,
    table,
  });
  if (CONTENT.test(code) && !encoding) refusal.refusesContent = true;
  return refusal;
}

function otherEncoding(error: unknown): string | undefined {
  for (const each of wrapped(error)) {
    const [, encoding] = OTHER_ENCODING.exec(`${(each as { message?: unknown }).message}`) ?? [];
    if (encoding) {
      return `the database has the encoding ${encoding}, which can't store every result: create a database with ENCODING 'UTF8' TEMPLATE template0`;
    }
  }
  return undefined;
}

function meant(code: string, table: string): string {
  const meaning = MEANINGS.find(([pattern]) => pattern.test(code))?.[1](table);
  return meaning ? `${code}, ${meaning}` : code;
}

/**
 * Converts an error from a function in `writes` to a commit error. Anything but a server error counts as the caller's own
 * refusal.
 * @param index its position in `writes`
 */
export function writeFailure(
  error: unknown,
  index: number,
  table: string,
): TransactionConditionError | CommitInvalidError | StoreUnavailableError {
  const code = sqlStateOf(error);
  hideValues(error);
  if (code === undefined || CONDITION.test(code)) {
    return new TransactionConditionError(index, undefined, error);
  }
  const failure = storeFailure(error, "COMMIT", table);
  if (failure.failure !== "refused") return failure;
  return new CommitInvalidError(
    `PostgreSQL refuses writes[${index}] (${/^(26|42P05)/.test(code) ? meant(code, table) : code}): nothing was written; fix the write`,
    { index, cause: error },
  );
}

/** A constraint that is only checked at the commit refuses there. */
export function commitFailure(error: unknown, lastIndex: number, table: string) {
  const isRefusal = CONDITION.test(sqlStateOf(error) ?? "");
  return isRefusal ? writeFailure(error, lastIndex, table) : storeFailure(error, "COMMIT", table);
}

/** A deferred constraint or trigger refuses the handler's writes only at the COMMIT. */
export function refusedAtCommit(error: unknown): TransactionConditionError {
  const refusal = new TransactionConditionError(-1, undefined, error);
  refusal.message = "the database refused the handler's writes at COMMIT; nothing was written";
  return refusal;
}

/** Hides values of rows, so that printing the error doesn't print them. A frozen error stays unchanged. */
function hideValues(error: unknown): void {
  for (const each of wrapped(error)) {
    for (const name of ["detail", "where", "internalQuery", "query", "parameters", "params", "args"]) {
      if (Object.hasOwn(each, name)) Reflect.defineProperty(each, name, { enumerable: false });
    }
  }
}
