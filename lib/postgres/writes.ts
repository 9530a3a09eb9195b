/** The user's own statements of a commit, within the transaction of the record. */
import { hasCode } from "../core/error-code.ts";
import { CommitInvalidError } from "../core/errors.ts";
import type { Effects } from "../core/store.ts";
import { sqlStateOf, writeFailure } from "./failures.ts";

/**
 * What a commit writes: a function that gets the client of the transaction, and is awaited. It holds SQL only, since a
 * serialization failure runs it again in a transaction of its own: nothing of the former one is left then. The handler does not run
 * again for it.
 *
 * Whatever it throws rolls everything back. A constraint, a RAISE and an error of your own become a
 * TransactionConditionError (`TRANSACTION_CONDITION`) with that error as its `cause`. A statement that PostgreSQL cannot
 * run becomes a CommitInvalidError (`COMMIT_INVALID`). It must neither COMMIT nor ROLLBACK, and use no other client: on a pool of
 * one connection that would wait for itself.
 */
export type PostgresWrite<Client> = (client: Client) => unknown;

/** @throws CommitInvalidError (`COMMIT_INVALID`) */
export function checkWrites({ writes }: Pick<Effects<unknown>, "writes">): void {
  const index = writes.findIndex((write) => typeof write !== "function");
  if (index !== -1) {
    throw new CommitInvalidError(
      `writes[${index}] must be a function of the transaction's client: writes: async (client) => { … }`,
    );
  }
}

/** One after the other. @throws what `writeFailure` makes of an error */
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

/** The error of a transaction that the user's code left in a state in which it cannot be committed. */
export function brokenTransaction(cause?: unknown, by = "the `writes` of a commit"): CommitInvalidError {
  const why =
    cause === undefined
      ? "ended the transaction by COMMIT or ROLLBACK: leave both to the store, and throw to refuse"
      : "caught the error of a statement, after which PostgreSQL takes no other one: let the error through";
  return new CommitInvalidError(`${by} ${why}`, { cause });
}

/** The mistake behind a statement of the store that its transaction does not take any more; `undefined` for other errors. */
export function brokenBy(error: unknown, by?: string): CommitInvalidError | undefined {
  if (!hasCode(error, "STORE_UNAVAILABLE")) return undefined;
  const code = sqlStateOf(error.cause);
  if (code === "25P02") return brokenTransaction(error.cause, by);
  return code === "25P01" ? brokenTransaction(undefined, by) : undefined;
}
