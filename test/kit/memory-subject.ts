/** MemoryStore as a subject of the store contract. */
import { MemoryStore, type MemoryWrite, type StoreSubject } from "onceonly/testing";

export function memorySubject(store: MemoryStore = new MemoryStore()): StoreSubject<MemoryWrite> {
  return {
    store,
    outbox: store.outbox,
    countUp: (name, condition) => ({
      table: "counters",
      key: name,
      item: (former) => ({ count: Number(former?.count ?? 0) + 1 }),
      condition: (former) => condition === undefined || former === undefined,
    }),
    readCount: async (name) => Number(store.table("counters").get(name)?.count ?? 0),
    unacceptableWrites: [[{} as MemoryWrite], [null as unknown as MemoryWrite]],
    alter: async (recordKey, change) => store.alter(recordKey, change),
    remove: async (recordKey) => store.alter(recordKey, undefined),
  };
}
