// What sets Aurora DSQL apart, on PostgreSQL: conflicts that are found at the commit, and SQL that it does not take.
import { isStoreFailure } from "../../lib/core/error-code.ts";
import type { SqlClient } from "../../lib/postgres/sql-client.ts";

/** The first transaction with writes is rolled back there. */
export function conflictingOnce<Client>(client: SqlClient<Client>, code: string): SqlClient<Client> {
  let isOver = false;
  return {
    query: client.query,
    transaction: (work, first) =>
      client.transaction(async (transaction) => {
        const result = await work(transaction);
        if (isOver) return result;
        isOver = true;
        throw Object.assign(new Error("change conflicts with another transaction"), {
          code,
          severity: "ERROR",
        });
      }, first),
  };
}

/** https://docs.aws.amazon.com/aurora-dsql/latest/userguide/working-with-postgresql-compatibility.html, of what a store might use. */
const LACKING = [
  /(?<!::)\bjsonb[,\n]/,
  /\bCOLLATE\b/,
  /\bPARTITION BY\b/,
  /\bWITH\b.*\b(INSERT|UPDATE|DELETE)\b/s,
  /\bSKIP LOCKED\b|\bNOWAIT\b/,
  /\bSET LOCAL\b|lock_timeout|idle_in_transaction/,
  /\bxmin\b|\bctid\b|pg_current_xact_id|pg_advisory/,
  /\bpg_notify\b|\bLISTEN\b/,
  /\bSAVEPOINT\b/,
  /\bfillfactor\b/,
  /\bCREATE INDEX (?!ASYNC)/,
  /\bCREATE INDEX\b.*(\bWHERE\b|\(\w*\()/s,
  /;\s*\S/,
];

/** Refuses what DSQL does not take, and has PostgreSQL do the rest: it knows no ASYNC. */
export function onlyDsql<Client>(client: SqlClient<Client>): SqlClient<Client> {
  const taken = (text: string): string => {
    const lacking = LACKING.find((pattern) => pattern.test(text));
    if (lacking)
      throw Object.assign(new Error(`DSQL takes no ${lacking}`), { code: "0A000", severity: "ERROR" });
    return text.replace("INDEX ASYNC", "INDEX");
  };
  return {
    query: async (text, values) => client.query(taken(text), values),
    transaction: (work, first) => {
      if (first) taken(first);
      return client.transaction((transaction) =>
        work({
          ...transaction,
          query: async (text, values) => transaction.query(taken(text), values),
        }),
      );
    },
  };
}

/** Has a table refuse what is too large for DSQL: a column above 1 MiB, and a row above 2 MiB. */
export async function limitAsDsql<Client>(client: SqlClient<Client>, table: string): Promise<void> {
  await client.query(
    `CREATE FUNCTION ${table}_limits() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE longest integer; whole integer;
BEGIN
  SELECT max(octet_length(value)), sum(octet_length(key) + octet_length(value)) INTO longest, whole
    FROM json_each_text(row_to_json(NEW));
  IF longest > 1024 * 1024 THEN RAISE 'maximum column size exceeded' USING ERRCODE = '54000'; END IF;
  IF whole > 2 * 1024 * 1024 THEN RAISE 'maximum row size exceeded' USING ERRCODE = '54000'; END IF;
  RETURN NULL;
END $$`,
    [],
  );
  await client.query(
    `CREATE TRIGGER limits AFTER INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_limits()`,
    [],
  );
}

/**
 * Each statement, and each transaction, is rolled back at its first commit. `seen` is a store as the engine asks it: again,
 * where it found a conflict.
 */
export function conflictingAtFirst<Client>(client: SqlClient<Client>) {
  const known = new Set<string>();
  let conflicts = 0;

  const within: SqlClient<Client>["transaction"] = (work, first) =>
    client.transaction(async (transaction) => {
      // The first statement names a transaction: later ones tell when it began.
      let name = "";
      const result = await work({
        ...transaction,
        query: (text, values) => {
          name ||= JSON.stringify([text, values]);
          return transaction.query(text, values);
        },
      });
      if (known.has(name)) return result;
      known.add(name);
      conflicts++;
      throw Object.assign(new Error("change conflicts with another transaction"), {
        code: conflicts % 2 === 0 ? "OC000" : "40001",
        severity: "ERROR",
      });
    }, first);

  const conflicting: SqlClient<Client> = {
    // What only reads has no conflict.
    query: (text, values) =>
      /^\s*(WITH|INSERT|UPDATE|DELETE)/.test(text)
        ? within((transaction) => transaction.query(text, values))
        : client.query(text, values),
    transaction: within,
  };

  const seen = <Seen extends object>(store: Seen): Seen =>
    new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        if (!["claim", "settle", "renew", "writeStep", "insert"].includes(`${String(name)}`)) {
          return value.bind(target);
        }
        return async (...given: unknown[]) => {
          for (;;) {
            try {
              return await value.apply(target, given);
            } catch (error) {
              if (!isStoreFailure(error) || error.failure !== "conflict") throw error;
            }
          }
        };
      },
    });

  return { client: conflicting, seen };
}
