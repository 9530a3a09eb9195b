/** Entry "onceonly/testing": an in-memory store, a clock, a Lambda context, and the contract that every store passes. */
export {
  type ContractCase,
  type SubjectWithoutOutbox,
  storeContract,
} from "./contract/store-contract.ts";
export type { StoreSubject } from "./contract/store-subject.ts";
export { type FakeClock, fakeClock } from "./fake-clock.ts";
export {
  type FakeLambdaContext,
  type FakeLambdaContextOptions,
  fakeLambdaContext,
} from "./fake-lambda-context.ts";
export { fakeRandom } from "./fake-random.ts";
export type { MemoryOutbox } from "./memory-outbox.ts";
export { MemoryStore, type MemoryStoreOptions } from "./memory-store.ts";
export type { Item, MemoryWrite } from "./memory-tables.ts";
