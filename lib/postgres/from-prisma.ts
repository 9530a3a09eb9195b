/** The adapter for Prisma. */
import { checkMethods } from "../core/option-checks.ts";
import { closable } from "./closable.ts";
import { sqlStateOf } from "./failures.ts";
import type { SqlClient, SqlRow, SqlValue } from "./sql-client.ts";

/** A Prisma client, or the client of a transaction, which runs statements. */
export interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...values: SqlValue[]): PromiseLike<unknown>;
}

/** A `PrismaClient`. */
export interface PrismaDatabase<Transaction extends PrismaTransaction> extends PrismaTransaction {
  $transaction<T>(work: (transaction: Transaction) => Promise<T>, options?: object): Promise<T>;
}

/**
 * Makes a `SqlClient` from a `PrismaClient`. Functions in the `writes` of a commit receive the client of an interactive
 * transaction. Prisma ends such a transaction after 5 seconds, unless the client's `transactionOptions` allow more.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function fromPrisma<Transaction extends PrismaTransaction>(
  prisma: PrismaDatabase<Transaction>,
): SqlClient<Transaction> {
  checkMethods("prisma", prisma, ["$transaction", "$queryRawUnsafe"], "a `PrismaClient`");
  return {
    query: (text, values) => rowsOf(prisma, text, values),
    transaction: (work, first) =>
      prisma.$transaction(async (transaction) => {
        const { client, close } = closable(transaction, "everything");
        if (first) await rowsOf(transaction, first, []);
        const query = (text: string, values: readonly SqlValue[]) => rowsOf(transaction, text, values);
        try {
          return await work({ client, query, close });
        } catch (error) {
          // Prisma reports no error when it can't roll back.
          await query("SELECT 1", []).catch((lostBy: unknown) => {
            if (sqlStateOf(lostBy) !== "25P02") throw lostBy;
          });
          throw error;
        }
      }),
  };
}

async function rowsOf(
  prisma: PrismaTransaction,
  text: string,
  values: readonly SqlValue[],
): Promise<readonly SqlRow[]> {
  return (await prisma.$queryRawUnsafe(text, ...values)) as readonly SqlRow[];
}
