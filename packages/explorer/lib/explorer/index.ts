/** The entry "onceonly-explorer": crash a handler at each of its requests and count effects; simulate a system in virtual time. */

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
// Which crashes leave a record as it was found, for `onceonly replay`.
export { type CrashPoint, crashPoints, type RecordShape } from "./crash-points.ts";
export type { Effect } from "./effect.ts";
export { explore } from "./explore.ts";
export type { Finding, FindingKind, Point } from "./finding.ts";
export { exactlyOnceMatchers } from "./matchers.ts";
export type { ExploreOptions, OutsideService } from "./options.ts";
export type { ExploreReport } from "./report.ts";
export { reportPage } from "./report-page.ts";
export type { Accepted, HeldRuns, UndoneRuns } from "./report-parts.ts";
export type { ExploredEvent } from "./scenario.ts";
export type { SourceKind } from "./source.ts";
export { streamEvent } from "./stream-event.ts";
export type { FoldedSteps, TraceStep } from "./trace-steps.ts";
