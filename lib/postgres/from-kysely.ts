/** The adapter for Kysely. */
import { checkMethods } from "../core/option-checks.ts";
import { closable } from "./closable.ts";
import type { SqlClient, SqlRow, SqlValue } from "./sql-client.ts";

/** A Kysely database or transaction, which runs statements. */
export interface KyselyTransaction {
  /** Plugins change results: one parses every string that looks like JSON. */
  withoutPlugins(): Pick<KyselyTransaction, "executeQuery">;
  /** Accepts the result of `CompiledQuery.raw`. */
  executeQuery(query: {
    readonly query: {
      readonly kind: "RawNode";
      readonly sqlFragments: readonly string[];
      readonly parameters: readonly never[];
    };
    readonly queryId: { readonly queryId: string };
    readonly sql: string;
    readonly parameters: readonly unknown[];
  }): Promise<{ readonly rows: readonly unknown[] }>;
}

/** A Kysely database with a PostgreSQL dialect. */
export interface KyselyDatabase<Transaction extends KyselyTransaction> extends KyselyTransaction {
  transaction(): { execute<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> };
}

/**
 * Makes a `SqlClient` from a Kysely database. Functions in the `writes` of a commit receive the Kysely transaction.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function fromKysely<Transaction extends KyselyTransaction>(
  db: KyselyDatabase<Transaction>,
): SqlClient<Transaction> {
  checkMethods("db", db, ["executeQuery", "transaction"], "a `Kysely` instance");
  return {
    query: (text, values) => rowsOf(db, text, values),
    transaction: (work, first) =>
      db.transaction().execute(async (transaction) => {
        const { client, close } = closable(transaction, "everything");
        if (first) await rowsOf(transaction, first, []);
        return work({ client, query: (text, values) => rowsOf(transaction, text, values), close });
      }),
  };
}

async function rowsOf(
  db: KyselyTransaction,
  text: string,
  values: readonly SqlValue[],
): Promise<readonly SqlRow[]> {
  const query = { kind: "RawNode", sqlFragments: [text], parameters: [] } as const;
  const { rows } = await db.withoutPlugins().executeQuery({
    query,
    queryId: { queryId: "onceonly" },
    sql: text,
    parameters: [...values],
  });
  return rows as readonly SqlRow[];
}
