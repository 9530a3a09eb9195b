/** What tests of handlers and of store adapters import. */
export { type FakeClock, fakeClock } from "./fake-clock.ts";
export {
  type FakeLambdaContext,
  type FakeLambdaContextOptions,
  fakeLambdaContext,
} from "./fake-lambda-context.ts";
export { fakeRandom } from "./fake-random.ts";
export { MemoryStore, type MemoryStoreOptions } from "./memory-store.ts";
export type { Item, MemoryWrite } from "./memory-tables.ts";
export { type ContractCase, storeContract } from "./store-contract.ts";
export type { StoreSubject } from "./store-subject.ts";
