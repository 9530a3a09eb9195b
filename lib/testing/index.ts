/** What tests of handlers and of store adapters import. */
export { DynamoDBError } from "./dynamodb/dynamodb-error.ts";
export { DynamoDBModel, type DynamoDBModelOptions } from "./dynamodb/dynamodb-model.ts";
export type { DynamoDBCall, Intercept } from "./dynamodb/intercept.ts";
export { EventBridgeError } from "./eventbridge/eventbridge-error.ts";
export type { EventBridgeModel } from "./eventbridge/eventbridge-model.ts";
export type { Effect } from "./explore/effect.ts";
export { explore } from "./explore/explore.ts";
export type { Finding, FindingKind, Point } from "./explore/finding.ts";
export { exactlyOnceMatchers } from "./explore/matchers.ts";
export type { ExploreOptions, OutsideService } from "./explore/options.ts";
export type { Accepted, ExploreReport } from "./explore/report.ts";
export type { ExploredEvent } from "./explore/scenario.ts";
export type { SourceKind } from "./explore/source.ts";
export { streamEvent } from "./explore/stream-event.ts";
export { type FakeClock, fakeClock } from "./fake-clock.ts";
export {
  type FakeLambdaContext,
  type FakeLambdaContextOptions,
  fakeLambdaContext,
} from "./fake-lambda-context.ts";
export { fakeRandom } from "./fake-random.ts";
export { MemoryStore, type MemoryStoreOptions } from "./memory-store.ts";
export type { Item, MemoryWrite } from "./memory-tables.ts";
export { canHave } from "./simulator/exchange.ts";
export type { Fault, FaultKind } from "./simulator/fault.ts";
export type { Service } from "./simulator/http-exchange.ts";
export type { Invocation, InvocationOutcome } from "./simulator/invocation.ts";
export type { Io, IoService } from "./simulator/io.ts";
export type { Faults } from "./simulator/network.ts";
export { removePatches } from "./simulator/patches/install.ts";
export type { Quotas } from "./simulator/quotas.ts";
export { type RandomFaultsOptions, randomFaults } from "./simulator/random-faults.ts";
export type {
  SimulatedBus,
  SimulatedRule,
  SimulatedSubscription,
  SimulatedTopic,
  Subscriber,
} from "./simulator/room-options.ts";
export type { InvokeOptions, LambdaHandler, SimulatedFunction } from "./simulator/simulated-function.ts";
export { Simulator } from "./simulator/simulator.ts";
export type {
  KeyAttribute,
  LambdaOptions,
  QueueConnection,
  SimulatedIndex,
  SimulatedQueue,
  SimulatedTable,
  SimulatorOptions,
  TableConnection,
} from "./simulator/simulator-options.ts";
export type { TraceEvent } from "./simulator/trace-event.ts";
export { SnsError } from "./sns/sns-error.ts";
export type { SnsModel } from "./sns/sns-model.ts";
export { SqsError } from "./sqs/sqs-error.ts";
export { SqsModel, type SqsModelOptions } from "./sqs/sqs-model.ts";
export { type ContractCase, storeContract } from "./store-contract.ts";
export type { StoreSubject } from "./store-subject.ts";
