/** Business items next to the records of a MemoryStore, so that a test can check that a commit is all or nothing. */
import { TransactionConditionError } from "../core/errors.ts";

export type Item = Readonly<Record<string, unknown>>;

/** Puts one item into a table. */
export interface MemoryWrite {
  readonly table: string;
  readonly key: string;
  /** The new item, or a function of the existing item. */
  readonly item: Item | ((former: Item | undefined) => Item);
  /**
   * Whether the write is allowed, given the existing item.
   * @default - always
   */
  readonly condition?: (former: Item | undefined) => boolean;
}

export function isMemoryWrite(write: unknown): write is MemoryWrite {
  if (typeof write !== "object" || write === null) return false;
  const { table, key, item, condition } = write as Partial<Record<keyof MemoryWrite, unknown>>;
  return (
    typeof table === "string" &&
    typeof key === "string" &&
    (typeof item === "function" || (typeof item === "object" && item !== null)) &&
    (condition === undefined || typeof condition === "function")
  );
}

export class MemoryTables {
  readonly #tables = new Map<string, Map<string, Item>>();

  table(name: string): ReadonlyMap<string, Item> {
    return this.#open(name);
  }

  /**
   * Applies all writes or none.
   * @throws TransactionConditionError (`TRANSACTION_CONDITION`) for the first write whose condition isn't met.
   */
  apply(writes: readonly MemoryWrite[]): void {
    const items = writes.map(({ table, key, item, condition }, index) => {
      const former = this.#open(table).get(key);
      if (condition !== undefined && !condition(former)) {
        throw new TransactionConditionError(index, former, undefined);
      }
      return structuredClone(typeof item === "function" ? item(former) : item);
    });
    writes.forEach(({ table, key }, index) => {
      this.#open(table).set(key, items[index] as Item);
    });
  }

  #open(name: string): Map<string, Item> {
    const table = this.#tables.get(name) ?? new Map<string, Item>();
    this.#tables.set(name, table);
    return table;
  }
}
