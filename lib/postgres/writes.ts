/** The caller's own statements in a commit, within the record's transaction. */
import { hasCode } from "../core/error-code.ts";
import { CommitInvalidError } from "../core/errors.ts";
import type { Effects } from "../core/store.ts";
import { sqlStateOf, writeFailure } from "./failures.ts";

/**
 * A write in a commit: a function that receives the transaction's client, and is awaited. It must contain only SQL, because a
 * serialization failure runs it again in a new transaction, when nothing of the previous one is left. The handler does not run
 * again for that.
 *
 * Anything it throws rolls everything back. A constraint, a RAISE or your own error becomes a TransactionConditionError
 * (`TRANSACTION_CONDITION`) with that error as its `cause`. A statement that PostgreSQL can't run becomes a CommitInvalidError
 * (`COMMIT_INVALID`). It must not COMMIT or ROLLBACK, nor use another client: on a pool with one connection, it would wait for
 * itself.
 */
export type PostgresWrite<Client> = (client: Client) => unknown;

/** @throws CommitInvalidError (`COMMIT_INVALID`) */
export function checkWrites({ writes }: Pick<Effects<unknown>, "writes">): void {
  const index = writes.findIndex((write) => typeof write !== "function");
  if (index !== -1) {
    throw new CommitInvalidError(
      `writes[${index}] must be a function that accepts the transaction's client: writes: async (client) => { … }`,
    );
  }
}

/** Runs the writes in order. @throws the error that `writeFailure` returns */
export async function applyWrites<Client>(
  writes: readonly PostgresWrite<Client>[],
  client: Client,
  table: string,
): Promise<void> {
  for (const [index, write] of writes.entries()) {
    try {
      await write(client);
    } catch (error) {
      throw writeFailure(error, index, table);
    }
  }
}

/** The error for a transaction that the caller's code left in a state in which it can't be committed. */
export function brokenTransaction(cause?: unknown, by = "the `writes` of a commit"): CommitInvalidError {
  const why =
    cause === undefined
      ? "ended the transaction with COMMIT or ROLLBACK: leave both to the store, and throw an error to roll back"
      : "caught the error of a statement, but PostgreSQL accepts no further statement after that: let the error through";
  return new CommitInvalidError(`${by} ${why}`, { cause });
}

/** The mistake that made the transaction reject a statement of the store; `undefined` for other errors. */
export function brokenBy(error: unknown, by?: string): CommitInvalidError | undefined {
  if (!hasCode(error, "STORE_UNAVAILABLE")) return undefined;
  const code = sqlStateOf(error.cause);
  if (code === "25P02") return brokenTransaction(error.cause, by);
  return code === "25P01" ? brokenTransaction(undefined, by) : undefined;
}
