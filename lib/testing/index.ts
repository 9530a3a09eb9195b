/** The entry "onceonly/testing", for tests of handlers and of store adapters. */
export { DynamoDBError, type DynamoDBErrorDetails } from "../aws/dynamodb/dynamodb-error.ts";
export {
  DynamoDBModel,
  type DynamoDBModelOptions,
  type UsedCapacity,
} from "../aws/dynamodb/dynamodb-model.ts";
export type { StaleRead } from "../aws/dynamodb/dynamodb-service.ts";
export type { DynamoDBCall, Intercept } from "../aws/dynamodb/intercept.ts";
export type { DynamoDBOperations } from "../aws/dynamodb/operations.ts";
export type { ModelRequestHandler } from "../aws/dynamodb/request-handler.ts";
export { EventBridgeError } from "../aws/eventbridge/eventbridge-error.ts";
export type { EventBridgeModel } from "../aws/eventbridge/eventbridge-model.ts";
export type { EventBridgeOperations } from "../aws/eventbridge/operations.ts";
export type { AcceptedEvent } from "../aws/eventbridge/service.ts";
export type { BusEvent } from "../aws/eventbridge/target-input.ts";
export type { AwsHttpAnswer, AwsHttpCall, AwsHttpRequest } from "../aws/http-services/http-service.ts";
export type { S3Model } from "../aws/http-services/s3-model.ts";
export type { SentEmail, SesModel } from "../aws/http-services/ses-model.ts";
export type { SnsNotification } from "../aws/sns/notification.ts";
export type { SnsOperations } from "../aws/sns/operations.ts";
export { SnsError } from "../aws/sns/sns-error.ts";
export type { SnsModel } from "../aws/sns/sns-model.ts";
export type { Disorder } from "../aws/sqs/disorder.ts";
export type { SqsOperations } from "../aws/sqs/operations.ts";
export { SqsError } from "../aws/sqs/sqs-error.ts";
export { SqsModel, type SqsModelOptions } from "../aws/sqs/sqs-model.ts";
export type { Effect } from "../explorer/effect.ts";
export { explore } from "../explorer/explore.ts";
export type { Finding, FindingKind, Point } from "../explorer/finding.ts";
export { exactlyOnceMatchers } from "../explorer/matchers.ts";
export type { ExploreOptions, OutsideService } from "../explorer/options.ts";
export type { Accepted, ExploreReport, HeldRuns, UndoneRuns } from "../explorer/report.ts";
export { reportPage } from "../explorer/report-page.ts";
export type { ExploredEvent } from "../explorer/scenario.ts";
export type { SourceKind } from "../explorer/source.ts";
export { streamEvent } from "../explorer/stream-event.ts";
export type { FoldedSteps, TraceStep } from "../explorer/trace-steps.ts";
export { type FakeClock, fakeClock } from "../fakes/fake-clock.ts";
export {
  type FakeLambdaContext,
  type FakeLambdaContextOptions,
  fakeLambdaContext,
} from "../fakes/fake-lambda-context.ts";
export { fakeRandom } from "../fakes/fake-random.ts";
export { canHave } from "../simulator/exchange.ts";
export type { Fault, FaultKind } from "../simulator/fault.ts";
export { type ForeignRequest, foreignRequest, whenEnvironmentEnds } from "../simulator/foreign-request.ts";
export type { Service } from "../simulator/http-exchange.ts";
export type { Invocation, InvocationOutcome } from "../simulator/invocation.ts";
export type { Io, IoService } from "../simulator/io.ts";
export type { Faults } from "../simulator/network.ts";
export { removePatches } from "../simulator/patches/install.ts";
export type { Quotas } from "../simulator/quotas.ts";
export { type RandomFaultsOptions, randomFaults } from "../simulator/random-faults.ts";
export type {
  SimulatedBus,
  SimulatedRule,
  SimulatedSubscription,
  SimulatedTopic,
  Subscriber,
} from "../simulator/room-options.ts";
export type { SeededRandom } from "../simulator/seeded-random.ts";
export type { InvokeOptions, LambdaHandler, SimulatedFunction } from "../simulator/simulated-function.ts";
export { Simulator } from "../simulator/simulator.ts";
export type {
  KeyAttribute,
  LambdaOptions,
  QueueConnection,
  SimulatedIndex,
  SimulatedQueue,
  SimulatedTable,
  SimulatorOptions,
  TableConnection,
} from "../simulator/simulator-options.ts";
export type { TraceEvent } from "../simulator/trace-event.ts";
export {
  type ContractCase,
  type SubjectWithoutOutbox,
  storeContract,
} from "./contract/store-contract.ts";
export type { StoreSubject } from "./contract/store-subject.ts";
export type { MemoryOutbox } from "./memory-outbox.ts";
export { MemoryStore, type MemoryStoreOptions } from "./memory-store.ts";
export type { Item, MemoryWrite } from "./memory-tables.ts";
