/** Tells what PostgreSQL refuses from what may pass, and a refusal of the user's own writes from a failure of the store. */
import {
  CommitInvalidError,
  type StoreFailure,
  StoreUnavailableError,
  TransactionConditionError,
} from "../core/errors.ts";

/** By SQLSTATE; the first that matches. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const FAILURES: readonly (readonly [RegExp, StoreFailure])[] = [
  // Serialization failures, deadlocks, waits for a lock; OC000 and OC001 are those of Aurora DSQL.
  [/^(40|OC|55P03)/, "conflict"],
  [/^53/, "throttled"],
  // Connections, shutdowns, cancelled statements, a transaction that idled or lasted too long, a server that takes no writes now.
  [/^(08|57|58|XX|25P03|25P04|25006)/, "unreachable"],
  [/^/, "refused"],
];

/** Values that a column cannot hold, and limits of the server. */
const CONTENT = /^(22|54)/;

/** What the database is told to refuse: constraints, RAISE in triggers and functions, views with a check. */
const CONDITION = /^(23|P0|44)/;

/** As the server would have said where it answered the COMMIT by an error. */
export class AbortedTransactionError extends Error {
  override readonly name = "AbortedTransactionError";
  readonly code = "40000";
  readonly severity = "ERROR";

  constructor() {
    super("the server answered COMMIT by ROLLBACK: a statement had failed");
  }
}

/** What the store's own statement says of a database that is not in UTF-8. */
const OTHER_ENCODING = /\b([A-Z]\w+) is not UTF8\b/;

/** What stands behind a code, and what to do. */
const MEANINGS: readonly (readonly [RegExp, (table: string) => string])[] = [
  [
    /^(42P01|3F000)/,
    (table) =>
      `there is no such table: run the SQL of postgresSchema({ table: "${table}" }), or name its schema too`,
  ],
  [
    /^(42703|42P10|42804|42883|22P02)/,
    (table) =>
      `the table is not as postgresSchema({ table: "${table}" }) makes it: compare their columns and keys`,
  ],
  [
    /^42501/,
    (table) => `the role of this client lacks a right on ${table}: SELECT, INSERT, UPDATE, or DELETE to reap`,
  ],
  [
    /^(22021|22P05)/,
    () =>
      "the encoding of the database lacks a character: create the database with ENCODING 'UTF8' TEMPLATE template0",
  ],
  [/^28/, () => "the server does not let this role in: see user, password and pg_hba.conf"],
  [/^3D/, () => "there is no such database"],
  [
    /^(26|42P05)/,
    () =>
      "the server does not know the prepared statement: behind a pooler of transactions have the client prepare none: leave out `prepare: true` of `fromPg`, and give postgres.js `prepare: false`",
  ],
  [/^25006/, () => "the server takes no writes: a replica, or a primary that has failed over"],
  [/^57014/, () => "the statement was cancelled, by statement_timeout or by somebody"],
  [/^25P03/, () => "the transaction had no statement for 10 seconds"],
  [/^25P04/, () => "the transaction lasted longer than the server's transaction_timeout"],
  [/^40|^OC/, () => "a serialization failure or deadlock"],
];

/**
 * The SQLSTATE of an error that came from the server, also where a library has wrapped that error. Codes of Node, such as
 * EPIPE, have no severity beside them, and Prisma calls the server's own code the original one.
 */
export function sqlStateOf(error: unknown): string | undefined {
  for (const each of wrapped(error)) {
    const { code, severity, originalCode = severity && code } = Object(each) as Record<string, unknown>;
    if (typeof originalCode === "string" && /^[0-9A-Z]{5}$/.test(originalCode)) return originalCode;
  }
  return undefined;
}

/** An error and those within it, from the outside. */
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
 * Whether another connection may do: this one was lost, or the server ended it. What has waited for a connection or an answer
 * as long as the client says does not wait so long again.
 */
export function isLostConnection({ failure, cause }: StoreUnavailableError): boolean {
  const isOver = /\btimed? ?out\b/i.test(`${(Object(cause) as { message?: unknown }).message}`);
  return failure === "unreachable" && !isOver && /^(08|57P|$)/.test(sqlStateOf(cause) ?? "");
}

/** @param action what was asked of the table */
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
      return `the database has the encoding ${encoding}, which cannot keep every result: create one with ENCODING 'UTF8' TEMPLATE template0`;
    }
  }
  return undefined;
}

function meant(code: string, table: string): string {
  const meaning = MEANINGS.find(([pattern]) => pattern.test(code))?.[1](table);
  return meaning ? `${code}, ${meaning}` : code;
}

/**
 * What a function in `writes` threw, in the words of a commit. Anything but an error of the server is the user's own refusal.
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
    `PostgreSQL refuses writes[${index}] (${/^(26|42P05)/.test(code) ? meant(code, table) : code}): nothing was written; mend the write`,
    { index, cause: error },
  );
}

/** A constraint that is checked as late as at the commit refuses there. */
export function commitFailure(error: unknown, lastIndex: number, table: string) {
  const isRefusal = CONDITION.test(sqlStateOf(error) ?? "");
  return isRefusal ? writeFailure(error, lastIndex, table) : storeFailure(error, "COMMIT", table);
}

/** What a handler wrote in its transaction is refused as late as at the COMMIT: by a constraint or a trigger that is deferred. */
export function refusedAtCommit(error: unknown): TransactionConditionError {
  const refusal = new TransactionConditionError(-1, undefined, error);
  refusal.message =
    "the database refused at the COMMIT what the handler wrote in its transaction; nothing was written";
  return refusal;
}

/** They hold values of rows: whoever prints the error does not print them. A frozen error stays as it is. */
function hideValues(error: unknown): void {
  for (const each of wrapped(error)) {
    for (const name of ["detail", "where", "internalQuery", "query", "parameters", "params", "args"]) {
      if (Object.hasOwn(each, name)) Reflect.defineProperty(each, name, { enumerable: false });
    }
  }
}
