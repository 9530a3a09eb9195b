/** A model of PostgreSQL's row locks under READ COMMITTED: a row that is not there cannot be locked, so nobody waits. */
import { gate } from "../kit/time/gate.ts";

export function tableWithRowLocks() {
  const rows = new Set<string>();
  const locks = new Map<string, Promise<void>>();

  return {
    begin() {
      const { opened: ended, open: end } = gate();
      const held = new Set<string>();
      return {
        /** The row under `key`, locked until this transaction ends; waits for the transaction that holds its lock. */
        async selectForUpdate(key: string): Promise<string | undefined> {
          if (!rows.has(key)) return undefined;
          while (locks.has(key) && !held.has(key)) await locks.get(key);
          locks.set(key, ended);
          held.add(key);
          return key;
        },
        /** Throws where the unique index has the key. */
        insert(key: string) {
          if (rows.has(key)) throw new Error("duplicate key value violates unique constraint");
          rows.add(key);
        },
        end() {
          for (const key of held) locks.delete(key);
          end();
        },
      };
    },
  };
}
