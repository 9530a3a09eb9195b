/** The adapter for Kysely. */
import { checkMethods } from "../core/option-checks.ts";
import { closable } from "./closable.ts";
import type { SqlClient, SqlRow, SqlValue } from "./sql-client.ts";

/** What runs statements in Kysely: a database, or a transaction. */
export interface KyselyTransaction {
  /** Plugins change what comes out: one parses each text that looks like JSON. */
  withoutPlugins(): Pick<KyselyTransaction, "executeQuery">;
  /** Takes what `CompiledQuery.raw` makes. */
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

/** A database of Kysely, over a dialect of PostgreSQL. */
export interface KyselyDatabase<Transaction extends KyselyTransaction> extends KyselyTransaction {
  transaction(): { execute<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> };
}

/**
 * Makes a `SqlClient` of a database of Kysely. The functions in `writes` of a commit get the transaction of Kysely.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function fromKysely<Transaction extends KyselyTransaction>(
  db: KyselyDatabase<Transaction>,
): SqlClient<Transaction> {
  checkMethods("db", db, ["executeQuery", "transaction"], "give a `Kysely`");
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
