/** A store that calls race on, with what an onlooker may see of it. */
import { randomUUID } from "node:crypto";
import type { Store } from "../../../lib/core/store.ts";
import { MemoryStore, type MemoryWrite } from "../../../lib/testing/index.ts";
import type { Ports } from "../../../packages/proof/model/store-play.ts";

export interface RacedStore<Write> {
  readonly store: Store<Write>;
  /** The idempotency key of all calls, which no other race has. */
  readonly key: string;
  /** Makes one order more. */
  readonly order: Write;
  /** How many orders there are. */
  orders(): Promise<number>;
}

export function racedMemory(store: MemoryStore = new MemoryStore()): RacedStore<MemoryWrite> {
  return {
    store,
    key: "key-1",
    order: {
      table: "orders",
      key: "order-1",
      item: (former) => ({ count: Number(former?.count ?? 0) + 1 }),
    },
    orders: async () => Number(store.table("orders").get("order-1")?.count ?? 0),
  };
}

/** A race of its own on a store whose rows count its orders. */
export function racedOn<Write>({ store, rows }: Pick<Ports<Write>, "store" | "rows">): RacedStore<Write> {
  const key = randomUUID();
  return { store, key, order: rows.increment(key), orders: () => rows.count(key) };
}
